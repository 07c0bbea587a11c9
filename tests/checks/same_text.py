#!/usr/bin/python3
"""Fails if a command's output differs from a file; with --bless, writes the file. same_text.py [--bless] FILE COMMAND.."""
import difflib
import subprocess
import sys


def main(arguments):
    bless = arguments[0] == "--bless"
    path, *command = arguments[1:] if bless else arguments
    made = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    if bless:
        with open(path, "w", encoding="utf-8") as file:
            file.write(made)
        return 0
    with open(path, encoding="utf-8") as file:
        kept = file.read()
    sys.stdout.writelines(difflib.unified_diff(kept.splitlines(True), made.splitlines(True), path, "now"))
    if kept != made:
        print(f"{path} is not what {command[0]} prints; the target of this test's name with bless_ writes it anew")
    return int(kept != made)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
