#!/usr/bin/python3
"""Converts models with the host's `takt` and runs them on both emulated boards.

Fails if an output byte differs from the host's, if two inferences take different numbers of instructions, if heap,
unwinder or static constructors are linked, or if code, RAM or stack are more than tests/checks/budgets/cortex_m.txt allows.
Prints a table and writes it as WORK_DIR/measurements.json.
Our own model, and those of TAKT_SHARED_DIR where it exists.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tests/checks")]
import cortex_m_budget  # noqa: E402
from models import models  # noqa: E402

MODELS = ("kws_ref_model", "vww_96_int8", "pretrainedResnet_quant", "model_ToyCar_quant_fullint_micro_intio")
BOARDS = {"m4": "mps2-an386", "m55": "mps3-an547"}
TICK = {"m4": 40, "m55": 32}  # Instructions that the clock can't tell apart.
UNWANTED = re.compile(r"_?(malloc|free|calloc|realloc)(_r)?|_sbrk(_r)?|_Zn[wa].*|_Zd[la].*|__cxa_throw|_Unwind_.*|"
                      r"__gxx_personality.*|_GLOBAL__sub_I.*")
# Part of .text -> what its objects' paths contain. The plan itself (model.c) is no part.
PARTS = {"sha256": "sha256.cc", "engine": "libtakt_engine", "kernels": "libtakt_port_reference", "libc": "/lib", "app": "libtakt_port_cortex_m|run_plan"}
COLUMNS = ("invoke", "open", "init", "hash", "stack_init", "stack_invoke", "ram", *PARTS)


def run(command, log, **options):
    with open(log, "w") as file:
        subprocess.run(list(map(str, command)), stdout=file, stderr=subprocess.STDOUT, check=True, **options)


def prepare(takt, folder, model, inputs):
    """What the bare-metal sample carries, in `folder`; returns the host's outputs in hexadecimal."""
    folder.mkdir(parents=True, exist_ok=True)
    plan = folder / "model.takt"
    run([takt, "convert", model, "-o", plan, "--emit-c", folder / "model.c", "--emit-kernels", folder / "kernels.h"],
        folder / "convert.log")
    (folder / "inputs.bin").write_bytes(b"".join(file.read_bytes() for file in inputs))
    arguments = [argument for file in inputs for argument in ("--input", file)]
    run([takt, "run", plan, *arguments, "--output-dir", folder / "out"], folder / "run.log")
    return [file.read_bytes().hex() for file in sorted(folder.glob("out/out_[0-9]*.bin"))]


def build(core, folder, work):
    build_folder = work / f"build-{core}"
    run(["cmake", "-G", "Ninja", "-S", ROOT, "-B", build_folder, "--toolchain", ROOT / "ports/cortex_m/toolchain.cmake",
         f"-DTAKT_CORTEX_M={core}", "-DTAKT_BUILD_CONVERTER=OFF", "-DTAKT_BUILD_TESTS=OFF", f"-DTAKT_PLAN_DIR={folder}"],
        folder / f"{core}.configure.log")
    run(["cmake", "--build", build_folder, "--target", "takt_bare_metal_run"], folder / f"{core}.build.log")
    return build_folder / "takt_bare_metal_run"


def text_by_part(link_map):
    """Bytes of code and constants by part, from the linker's map."""
    sizes = collections.Counter()
    section = r"^ \.(?:text|rodata|vectors)\S*\s+0x[0-9a-f]+\s+(0x[0-9a-f]+) (\S+)$"
    for size, path in re.findall(section, link_map.partition("Linker script and memory map")[2], re.M):
        part = next((part for part, pattern in PARTS.items() if re.search(pattern, path)), None)
        sizes[part] += int(size, 16)
    return {part: sizes[part] for part in PARTS}


def ram_bytes(elf):
    """Variables and arenas; the stack is apart."""
    sections = subprocess.run(["arm-none-eabi-size", "-A", elf], check=True, capture_output=True, text=True).stdout
    return sum(int(size) for size in re.findall(r"^\.(?:data|bss)\s+(\d+)", sections, re.M))


def measure(core, elf, expected, log):
    """Runs the program; returns (measurements, complaints)."""
    symbols = subprocess.run(["arm-none-eabi-nm", elf], check=True, capture_output=True, text=True).stdout.split()
    complaints = [f"links {name}" for name in symbols if UNWANTED.fullmatch(name)]
    run(["qemu-system-arm", "-M", BOARDS[core], "-display", "none", "-monitor", "none", "-serial", "none",
         "-semihosting-config", "enable=on,target=native", "-icount", "shift=0", "-kernel", elf], log, timeout=300)
    text = log.read_text()
    if re.findall(r"^output (\w*)$", text, re.M) != expected:
        complaints.append("other output bytes than the host's")
    lines = re.findall(r"^(\w+) instructions (\d+) stack (\d+)$", text, re.M)
    cost = {phase: (int(n), int(stack)) for phase, n, stack in lines}
    runs = [int(n) for phase, n, _ in lines if phase == "invoke"]
    if len(runs) < 2 or max(runs) - min(runs) > TICK[core]:
        complaints.append(f"inferences of {runs} instructions")
    return {"invoke": cost["invoke"][0], "open": cost["open"][0], "init": cost["init"][0],
            "hash": cost["open_with_hash"][0] - cost["open"][0], "stack_init": max(cost["open"][1], cost["init"][1]),
            "stack_invoke": cost["invoke"][1], "ram": ram_bytes(elf), **text_by_part(pathlib.Path(f"{elf}.map").read_text())}, complaints


def main(takt, work, bless):
    prepared = [(name, work / name, prepare(takt, work / name, model, inputs)) for name, model, inputs in models(MODELS)]
    rows, failed = [], []
    print(f"{'core':4} {'model':40}", *(f"{column:>12}" for column in COLUMNS))
    for core in BOARDS:
        for name, folder, expected in prepared:
            try:
                cost, complaints = measure(core, build(core, folder, work), expected, folder / f"{core}.log")
                rows.append({"core": core, "model": name, **cost})
                print(f"{core:4} {name:40}", *(f"{cost[column]:12}" for column in COLUMNS), flush=True)
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                complaints = [f"{error}; see {folder}/{core}.*log"]
            failed += [f"{core} {name}: {complaint}" for complaint in complaints]
    print("Instructions of an inference, of Open without its hash check, of Init, of the hash check; bytes of stack in Open and\n"
          "Init, in Invoke; bytes of variables and arenas; bytes of code and constants by part (sha256: the\nhash check, which a program need "
          "not link), the plan apart.")
    (work / "measurements.json").write_text(json.dumps(rows, indent=1) + "\n")
    failed += cortex_m_budget.check(rows, bless)
    print(*failed, sep="\n", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("takt", type=pathlib.Path, help="the converter, of a build for the host")
    parser.add_argument("work", type=pathlib.Path, nargs="?", default=ROOT / "build/cortex_m", help="default: build/cortex_m")
    parser.add_argument("--bless", action="store_true", help="write the budgets of today; a limit is changed by hand only")
    arguments = parser.parse_args()
    sys.exit(main(arguments.takt.resolve(), arguments.work.resolve(), arguments.bless))
