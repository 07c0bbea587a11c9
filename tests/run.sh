#!/usr/bin/env bash
# Installs what is missing (Debian, as root), then builds and tests. run.sh [PART...]: suite consumer cortex-m gates (these by default) sanitizers
set -euo pipefail
cd "$(dirname "$0")/.."
export TAKT_SHARED_DIR="${TAKT_SHARED_DIR:-$PWD/../shared}"

part_suite() { preset ci; }                # gcc
part_sanitizers() { preset asan-ubsan; }   # and with clang, which compiles sanitized code in half the time of gcc
part_consumer() { samples/package_consumer/check.sh build/ci; }
part_cortex-m() { ports/cortex_m/measure.py build/ci/converter/takt; }
part_gates() {                             # of the engine: a second compiler, sanitizers, threads, valgrind, stack frames
  preset asan-engine
  for gate in tsan memcheck stack; do cmake --workflow --preset "$gate"; done
}

preset() {
  cmake --preset "$1"
  cmake --build --preset "$1"
  ctest --preset "$1"
}

# A preprocessor's run for each file pays where another checkout has filled the cache.
[ -d "${CCACHE_DIR:-$HOME/.cache/ccache}" ] || export CCACHE_DEPEND=1

parts=("$@")
[ "$#" -gt 0 ] || parts=(suite consumer cortex-m gates)
tests/install_packages.sh
for part in "${parts[@]}"; do
  echo "== $part"
  started=$SECONDS
  "part_$part"
  echo "== $part: $((SECONDS - started)) s"
done
[ ! -f build/ci/ctest.log ] || grep -E 'tests passed|tests failed' build/ci/ctest.log
