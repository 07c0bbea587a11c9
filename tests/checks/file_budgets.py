#!/usr/bin/python3
"""Fails if a source file has more lines than DESIGN's budget: .cc 400, .h 250, tests 600. file_budgets.py ROOT"""
import pathlib
import sys

# path -> (lines, reason)
EXCEPTIONS = {}


def budget(path):
    if path in EXCEPTIONS:
        return EXCEPTIONS[path][0]
    if path.startswith("tests/"):
        return 600
    return 250 if path.endswith(".h") else 400


def check(root):
    root = pathlib.Path(root)
    found = []
    count = 0
    for top in ("schema", "engine", "ports", "converter", "samples", "tests"):
        for file in sorted((root / top).rglob("*")):
            if file.suffix in (".h", ".cc", ".c", ".py"):
                count += 1
                path = file.relative_to(root).as_posix()
                lines = len(file.read_text().splitlines())
                if lines > budget(path):
                    found.append(f"{path}: {lines} lines, budget {budget(path)}")
    return found, count


if __name__ == "__main__":
    found, count = check(sys.argv[1])
    print(*found, f"{count} files, {len(found)} over budget", sep="\n")
    sys.exit(1 if found or count == 0 else 0)
