#!/usr/bin/python3
"""Same bytes everywhere. The first configuration converts each model in both numerics and runs it. Every other one runs the same plans (integer
outputs: the same bytes; float32: |d| <= 1e-5 * max(|expected|, rms)) and, where it builds the converter, converts again
(the same file). Prints the SHA-256 of what all agree on; exit code 1 if any differs or does not build.
"""
import argparse
import array
import hashlib
import json
import math
import pathlib
import shutil
import subprocess
import sys
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from models import models  # noqa: E402

# From the shared models; float32 ones too. Ours is always there.
MODELS = ("kws_ref_model", "vww_96_int8", "pretrainedResnet_quant", "model_ToyCar_quant_fullint_micro_intio",
          "hello_world_int8", "simple_add_model", "model_ToyCar", "pretrainedResnet")


@dataclass
class Configuration:
    flags: str
    compiler: str = "g++"
    architecture: str = ""  # Empty: the host.
    converter: bool = True


CONFIGURATIONS = {
    "gcc-O2": Configuration("-O2"),
    "gcc-O0": Configuration("-O0"),
    "gcc-O3": Configuration("-O3"),
    "clang-O0": Configuration("-O0", "clang++"),
    "clang-O2": Configuration("-O2", "clang++", converter=False),
    "clang-O3": Configuration("-O3", "clang++"),
    "aarch64": Configuration("-O2", architecture="aarch64"),
    "riscv64": Configuration("-O2", architecture="riscv64", converter=False),  # Debian 12 has no Abseil for it.
}
FIRST, *OTHERS = CONFIGURATIONS


def build(name, folder):
    """Builds one configuration; returns the command prefix that runs its programs."""
    c = CONFIGURATIONS[name]
    command = ["cmake", "-G", "Ninja", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=None", f"-DCMAKE_CXX_FLAGS={c.flags}",
               "-DTAKT_BUILD_TESTS=OFF", f"-DTAKT_BUILD_CONVERTER={'ON' if c.converter else 'OFF'}"]
    if c.architecture:
        command += ["--toolchain", ROOT / "tests/cross/toolchain.cmake", f"-DTAKT_CROSS={c.architecture}"]
    else:
        command.append(f"-DCMAKE_CXX_COMPILER={c.compiler}")
    if shutil.which("ccache"):
        command.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    with open(f"{folder}.log", "w") as log:
        subprocess.run(command, stdout=log, stderr=log, check=True)
        targets = ["run_plan"] + (["takt"] if c.converter else [])
        subprocess.run(["cmake", "--build", folder, "--target", *targets], stdout=log, stderr=log, check=True)
    return [f"qemu-{c.architecture}", "-L", f"/usr/{c.architecture}-linux-gnu"] if c.architecture else []


def convert(run, folder, model, numerics, plan):
    subprocess.run([*run, folder / "converter/takt", "convert", model, "-o", plan, "--numerics", numerics], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def outputs(run, folder, plan, inputs, where):
    shutil.rmtree(where, ignore_errors=True)
    where.mkdir(parents=True)
    subprocess.run([*run, folder / "samples/run_plan", plan, where, *inputs], check=True)
    return [file.read_bytes() for file in sorted(where.glob("out_*.bin"))]


def agree(kind, expected, got):
    if kind != "float32":
        return expected == got
    a, b = array.array("f", expected), array.array("f", got)
    rms = math.sqrt(sum(x * x for x in a) / max(len(a), 1))
    return len(a) == len(b) and all(abs(x - y) <= 1e-5 * max(abs(x), rms) for x, y in zip(a, b))


def check(name, run, folder, cases):
    """The complaints about one configuration."""
    for case, model, numerics, plan, inputs, kinds, expected in cases:
        try:
            got = outputs(run, folder, plan, inputs, folder / "out")
            if len(got) != len(expected) or not all(map(agree, kinds, expected, got)):
                yield f"{name}: {case}: other output bytes"
            if CONFIGURATIONS[name].converter:
                again = folder / "again.takt"
                convert(run, folder, model, numerics, again)
                if again.read_bytes() != plan.read_bytes():
                    yield f"{name}: {case}: another plan"
        except subprocess.CalledProcessError as error:
            yield f"{name}: {case}: {error}"


def reference_cases(work, run, folder):
    for name, model, inputs in models(MODELS):
        for numerics in ("fp32_rne", "tflite"):
            plan = work / f"{name}.{numerics}.takt"
            convert(run, folder, model, numerics, plan)
            report = json.loads(subprocess.run([*run, folder / "converter/takt", "inspect", plan, "--json"], check=True,
                                               capture_output=True).stdout)
            kinds = [output["type"] for output in report["outputs"]]
            expected = outputs(run, folder, plan, inputs, work / "expected")
            print(f"{name:40} {numerics:9} plan {hashlib.sha256(plan.read_bytes()).hexdigest()[:16]}",
                  *(f"output {hashlib.sha256(data).hexdigest()[:16]} {kind}" for data, kind in zip(expected, kinds)), flush=True)
            yield f"{name} {numerics}", model, numerics, plan, inputs, kinds, expected


def main(work, names):
    work.mkdir(parents=True, exist_ok=True)
    cases = list(reference_cases(work, build(FIRST, work / FIRST), work / FIRST))
    complaints = []
    for name in names:
        try:
            found = list(check(name, build(name, work / name), work / name, cases))
        except subprocess.CalledProcessError:
            found = [f"{name}: does not build, see {work / name}.log"]
        converter = "and plans " if CONFIGURATIONS[name].converter else ""
        print(*found or [f"{name}: outputs {converter}of {len(cases)} cases agree with {FIRST}"], sep="\n", flush=True)
        complaints += found
    return 1 if complaints else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=pathlib.Path, help="folder for builds and plans; kept")
    parser.add_argument("configurations", nargs="*", metavar="CONFIGURATION", help=f"of {', '.join(OTHERS)}; default: all")
    arguments = parser.parse_args()
    if unknown := set(arguments.configurations) - set(OTHERS):
        parser.error(f"unknown configuration: {', '.join(sorted(unknown))}; known: {', '.join(OTHERS)}")
    sys.exit(main(arguments.work.resolve(), arguments.configurations or OTHERS))
