#!/usr/bin/python3
"""Fails if a function of engine or ports has a larger stack frame than its budget. stack.py BUILD_DIR [--bless]

BUILD_DIR was compiled by gcc with -fstack-usage (preset stack). budgets/stack.txt lists every frame above 256 bytes; a frame
whose size is not known at compile time always fails. The functions of one invocation nest, without recursion: Invoke, Step,
RunStep, a kernel, its helpers, so that their sum bounds the stack (ports/cortex_m measures it).
"""
import argparse
import pathlib
import re
import sys

BUDGETS = pathlib.Path(__file__).parent / "budgets/stack.txt"
FREE = 256


def frames(build):
    """function -> bytes; None: not known."""
    found = {}
    for file in sorted(pathlib.Path(build).rglob("*.su")):
        if not re.match(r"(engine|ports)/", str(file.relative_to(build))):
            continue
        for line in file.read_text().splitlines():
            place, size, kind = line.rsplit("\t", 2)
            name = re.sub(r"\.(constprop|isra|part|cold)\.\d+", "", place.split(":", 3)[3])
            if name[0].isdigit():  # A part that gcc split off.
                name = f"{pathlib.Path(place.split(':')[0]).name}: part {name}"
            bytes_ = int(size) if kind in ("static", "dynamic,bounded") else None
            old = found.get(name, 0)
            found[name] = None if bytes_ is None or old is None else max(old, bytes_)
    return found


def read_budgets():
    rows = [line.split(" ", 1) for line in BUDGETS.read_text().splitlines() if line and not line.startswith("#")]
    return {name: int(size) for size, name in rows}


def problems(found, budgets):
    for name, size in sorted(found.items()):
        if size is None:
            yield f"{name}: its frame is not known at compile time"
        elif size > budgets.get(name, FREE):
            yield f"{name}: {size} bytes, budget {budgets.get(name, FREE)}"
    yield from (f"{name}: is in {BUDGETS.name}, and no function has a frame above {FREE} bytes of that name"
                for name in sorted(budgets) if (found.get(name) or 0) <= FREE)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", help="compiled by gcc with -fstack-usage (preset stack)")
    parser.add_argument("--bless", action="store_true", help="writes the budgets anew")
    args = parser.parse_args()
    found = frames(args.build)
    if not found:
        sys.exit(f"{args.build}: has no .su files; cmake --workflow --preset stack makes them")
    if args.bless:
        rows = sorted(((size, name) for name, size in found.items() if size and size > FREE), reverse=True)
        BUDGETS.write_text("# Stack frames above 256 bytes, gcc -O2, x86-64: bytes, function. tests/checks/stack.py BUILD_DIR --bless\n"
                           + "".join(f"{size} {name}\n" for size, name in rows))
    bad = list(problems(found, read_budgets()))
    print("\n".join(bad) or f"{len(found)} functions within budget, the largest {max(s for s in found.values() if s is not None)} bytes")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
