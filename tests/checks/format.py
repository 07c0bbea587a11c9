#!/usr/bin/python3
"""Fails if clang-format would change a file. format.py ROOT; skipped without clang-format 14 (others format otherwise)."""
import shutil
import subprocess
import sys

import tree


def check(root):
    files = [path for path, _ in tree.sources(root, (".h", ".cc"))]
    run = subprocess.run(["clang-format", "--dry-run", *files], cwd=root, capture_output=True, text=True)
    wrong = {line.split(":")[0] for line in run.stderr.splitlines() if "[-Wclang-format-violations]" in line}
    return [f"{path}: run cmake --workflow --preset format" for path in sorted(wrong)], len(files)


if __name__ == "__main__":
    version = subprocess.run(["clang-format", "--version"], capture_output=True, text=True).stdout if shutil.which("clang-format") else ""
    if "version 14." not in version:
        print("SKIPPED: no clang-format 14")
        sys.exit(tree.SKIPPED)
    tree.main(check)
