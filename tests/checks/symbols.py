#!/usr/bin/python3
"""Fails if a library asks the linker for more than plain functions of the C library. symbols.py [--also REGEX] LIB...

So engine and ports can't reach the heap, locks, threads, files, exceptions or guarded statics, whatever a compiler makes of
them (promise P3).
"""
import argparse
import re
import subprocess
import sys

ALLOWED = re.compile(r"""
    mem(cpy|move|set|cmp|chr) | str(len|cmp|ncmp)
  | (acosh?|asinh?|atanh?|atan2|ceil|cos|cosh|erf|exp|exp2|expm1|floor|fmod|log|log1p|lround|nearbyint|pow|remainder|rint|round|sin|sinh|sqrt|tan|tanh|trunc)f?
  | __(popcount|clz|ctz|ashl|ashr|lshr|u?div|u?mod|mul|fix\w*|float\w*)[sdt][ift]\w*   # the compiler's arithmetic
  | _GLOBAL_OFFSET_TABLE_ | __stack_chk_fail | __cxa_pure_virtual
  | __assert_fail                                                                     # FlatBuffers' assertions, in debug builds
""", re.X)


def symbols(library, option):
    text = subprocess.run(["nm", "--format=posix", option, library], capture_output=True, text=True, check=True).stdout
    return {line.split()[0] for line in text.splitlines() if line and not line.endswith(":")}


def check(libraries, also):
    defined = set().union(*(symbols(library, "--defined-only") for library in libraries))
    for library in libraries:
        for symbol in sorted(symbols(library, "--undefined-only") - defined):
            if not ALLOWED.fullmatch(symbol) and not also.fullmatch(symbol):
                yield f"{library}: wants {symbol}, which is not on the list of {__file__}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("libraries", nargs="+")
    parser.add_argument("--also", type=re.compile, default="", help="symbols of the library that a port is made of")
    args = parser.parse_args()
    problems = list(check(args.libraries, args.also))
    print("\n".join(problems) or f"{len(args.libraries)} libraries want nothing beyond the list")
    sys.exit(1 if problems else 0)
