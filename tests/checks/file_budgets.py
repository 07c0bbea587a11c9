#!/usr/bin/python3
"""Fails if a source file has more lines than DESIGN's budget: .cc 400, .h 250, tests 600. file_budgets.py ROOT"""
import tree

# path -> (lines, reason)
EXCEPTIONS = {}


def budget(path):
    if path in EXCEPTIONS:
        return EXCEPTIONS[path][0]
    if path.startswith("tests/"):
        return 600
    return 250 if path.endswith(".h") else 400


def check(root):
    files = [(path, len(text.splitlines())) for path, text in tree.sources(root, (".h", ".cc", ".c", ".py"))]
    return [f"{path}: {lines} lines, budget {budget(path)}" for path, lines in files if lines > budget(path)], len(files)


if __name__ == "__main__":
    tree.main(check)
