#!/usr/bin/python3
"""Plans of published versions open and give the same bytes for ever: <version>.takt run on <version>.in gives output bytes
with the hash in <version>.sha256."""
import argparse
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FASHION = HERE.parents[2] / "samples/fashion"


def output_hash(run_plan, plan):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([run_plan, plan, folder, plan.with_suffix(".in")], check=True)
        return hashlib.sha256((pathlib.Path(folder) / "out_0.bin").read_bytes()).hexdigest()


def keep(run_plan, takt):
    with tempfile.TemporaryDirectory() as folder:
        new = pathlib.Path(folder) / "new.takt"
        subprocess.run([takt, "convert", FASHION / "fashion.tflite", "-o", new], check=True, stdout=subprocess.DEVNULL)
        report = json.loads(subprocess.run([takt, "inspect", new, "--json"], check=True, capture_output=True).stdout)
        plan = HERE / f"{report['version']}.takt"
        if plan.exists():
            sys.exit(f"{plan} exists: a kept plan never changes")
        plan.write_bytes(new.read_bytes())
        plan.with_suffix(".in").write_bytes((FASHION / "ankle_boot.raw").read_bytes())
        plan.with_suffix(".sha256").write_text(output_hash(run_plan, plan) + "\n")


def check(run_plan):
    plans = sorted(HERE.glob("*.takt"))
    wrong = [plan.name for plan in plans if output_hash(run_plan, plan) != plan.with_suffix(".sha256").read_text().strip()]
    print(f"{len(plans)} kept plans; other bytes than ever before: {', '.join(wrong) or 'none'}")
    return 1 if wrong or not plans else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run_plan", help="program that runs a plan")
    parser.add_argument("--keep", metavar="TAKT", help="convert samples/fashion and keep it as its plan version")
    arguments = parser.parse_args()
    sys.exit(keep(arguments.run_plan, arguments.keep) if arguments.keep else check(arguments.run_plan))
