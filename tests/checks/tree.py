"""What the checks share: the source files of the tree, and the command line `check.py ROOT`."""
import pathlib
import sys

FOLDERS = ("schema", "engine", "ports", "converter", "samples", "tests")
SKIPPED = 77  # Exit code that CTest reports as skipped.


def sources(root, suffixes):
    """(path relative to root, text) of each source file, in order."""
    root = pathlib.Path(root)
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in suffixes:
                yield file.relative_to(root).as_posix(), file.read_text()


def main(check):
    """`check(root)` returns violations and the number of files it saw; any violation, or no file, is a failure."""
    found, count = check(sys.argv[1])
    print(*found, f"{count} files, {len(found)} violations", sep="\n")
    sys.exit(1 if found or count == 0 else 0)
