#!/usr/bin/env python3
"""coverage.py BUILD_DIR: lines of the code that reads untrusted bytes which the committed corpora reach (llvm-cov).
Fails if the files of a fuzzer are below 90 % together."""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEAST = 90
READERS = {  # What a fuzzer is there for.
    "plan": ["engine/plan/*.cc"],
    "tflite": ["converter/frontend/tflite_*.cc", "converter/frontend/custom_options.cc"],
    "onnx": ["converter/frontend/onnx_*.cc"],
    "npu_stream": [f"ports/npu_emu/model/{name}.cc" for name in ("access", "checker", "micro_op", "walker")],
    "machine": ["converter/npu/machine_json.cc", "ports/npu_emu/model/machine.cc"],
    "data": ["converter/cli/data/*.cc", "converter/base/json.cc"],
}
NOT_OURS = {ROOT / "converter/cli/data/stb.cc"}


def lines_of(build: pathlib.Path, fuzzer: str) -> dict:
    """{file: (covered, all)} after a replay of the fuzzer's corpus."""
    program = build / f"tests/fuzz/{fuzzer}_fuzzer"
    raw, merged = build / f"{fuzzer}.profraw", build / f"{fuzzer}.profdata"
    subprocess.run([program, ROOT / "tests/fuzz/corpus" / fuzzer], check=True, stdout=subprocess.DEVNULL,
                   env={"LLVM_PROFILE_FILE": str(raw)})
    subprocess.run(["llvm-profdata", "merge", "-o", merged, raw], check=True)
    export = subprocess.run(["llvm-cov", "export", "-summary-only", f"-instr-profile={merged}", program], check=True,
                            capture_output=True)
    files = json.loads(export.stdout)["data"][0]["files"]
    counts = {pathlib.Path(f["filename"]): f["summary"]["lines"] for f in files}
    read = [path for pattern in READERS[fuzzer] for path in sorted(ROOT.glob(pattern)) if path not in NOT_OURS]
    return {path: (counts[path]["covered"], counts[path]["count"]) for path in read if path in counts}


def main() -> int:
    build = pathlib.Path(sys.argv[1]).resolve()
    low = []
    for fuzzer in READERS:
        lines = lines_of(build, fuzzer)
        for path, (covered, count) in lines.items():
            print(f"{100 * covered / count:6.1f} %  {covered:5} of {count:5}  {path.relative_to(ROOT)}")
        share = 100 * sum(c for c, _ in lines.values()) / sum(n for _, n in lines.values())
        print(f"{share:6.1f} %  {fuzzer}\n")
        if share < LEAST:
            low.append(fuzzer)
    if low:
        print(f"below {LEAST} %: {', '.join(low)}; add inputs to tests/fuzz/corpus", file=sys.stderr)
    return 1 if low else 0


sys.exit(main())
