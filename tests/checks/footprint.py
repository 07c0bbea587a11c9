#!/usr/bin/python3
"""Compares the bytes that plans need with budgets/footprint.txt. Exit code 77: no model of the list is there."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BUDGETS = HERE / "budgets" / "footprint.txt"
CONTRACTIONS = {"conv2d", "conv2d_add", "depthwise_conv2d", "fully_connected"}


def weight_bytes(plan):
    """Bytes of int8 weights and int32 biases; a constant that several steps read counts once."""
    constants = {t["index"]: t for t in plan["tensors"] if "constant" in t}
    used = {i for step in plan["steps"] if step["op"] in CONTRACTIONS for i in step["inputs"][1:3]}
    return sum(constants[i]["bytes"] for i in used if i in constants)


def measure(takt, model):
    """{column: bytes} of the model converted with the defaults."""
    with tempfile.TemporaryDirectory() as folder:
        command = [takt, "convert", model, "-o", f"{folder}/m.takt", "--json"]
        plan = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {"activation": sum(a["bytes"] for a in plan["arenas"] if a["kind"] == "activation"),
            "overhead": plan["plan_bytes"] - weight_bytes(plan)}


def parse(text):
    """[(model, {column: (bytes, limit or None)})]"""
    rows = []
    for line in text.splitlines():
        if line and not line.startswith("#"):
            model, *cells = line.split()
            activation, activation_limit, overhead, overhead_limit = (None if c == "-" else int(c) for c in cells)
            rows.append((model, {"activation": (activation, activation_limit), "overhead": (overhead, overhead_limit)}))
    return rows


def compare(model, budget, measured):
    """What is wrong with one model, as sentences."""
    for column, (expected, limit) in budget.items():
        value = measured[column]
        if limit is not None and value > limit:
            yield f"{model}: {column} needs {value} bytes, its limit is {limit}"
        elif value != expected:
            yield f"{model}: {column} needs {value} bytes, {expected} were reviewed; if that is meant, run with --bless"


def bless(text, measured):
    """The text with measured values in the place of old ones; comments and limits stay."""
    lines = []
    for line in text.splitlines():
        model = line.split(maxsplit=1)[0] if line else ""
        if model in measured:
            (_, budget), = parse(line)
            cells = [c for name in budget for c in (measured[model][name], budget[name][1])]
            line = f"{model:<54}" + "".join(f"{'-' if c is None else c:>12}" for c in cells)
        lines.append(line)
    return "\n".join(lines) + "\n"


def main(takt, shared, blessed):
    text = BUDGETS.read_text()
    rows = parse(text)
    measured = {}
    for model, _ in rows:
        path = HERE.parents[1] / model
        path = path if path.exists() else pathlib.Path(shared) / model
        if path.exists():
            measured[model] = measure(takt, path)
        else:
            print(f"SKIPPED {model}: not in this checkout or {shared}")
    if not measured:
        return 77
    if blessed:
        text = bless(text, measured)
        BUDGETS.write_text(text)
        rows = parse(text)
    found = [finding for model, budget in rows if model in measured for finding in compare(model, budget, measured[model])]
    print(*found, f"{len(measured)} models, {len(found)} findings", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("takt", help="the converter")
    parser.add_argument("shared", help="folder of the shared models; those that it lacks are skipped")
    parser.add_argument("--bless", action="store_true", help="write the values of today; a limit is changed by hand only, and "
                                                             "a value above one fails either way")
    arguments = parser.parse_args()
    sys.exit(main(arguments.takt, arguments.shared, arguments.bless))
