#!/usr/bin/env bash
# Installs what is missing (Debian, as root), then builds and tests. run.sh [PART...]: suite consumer clang sanitizers cortex-m
set -euo pipefail
cd "$(dirname "$0")/.."
export TAKT_SHARED_DIR="${TAKT_SHARED_DIR:-$PWD/../shared}"

part_suite() {
  cmake --preset ci
  cmake --build --preset ci
  ctest --preset ci
}
part_consumer() { samples/package_consumer/check.sh build/ci; }
part_clang() {  # Builds only: the tests of one compiler suffice here, cross.py compares the bytes of both.
  cmake --preset clang
  cmake --build --preset clang
}
part_sanitizers() {
  cmake --preset asan-ubsan
  cmake --build --preset asan-ubsan
  ctest --preset asan-ubsan
}
part_cortex-m() { ports/cortex_m/measure.py build/ci/converter/takt; }

parts=("$@")
[ "$#" -gt 0 ] || parts=(suite consumer clang sanitizers cortex-m)
tests/install_packages.sh
for part in "${parts[@]}"; do
  echo "== $part"
  started=$SECONDS
  "part_$part"
  echo "== $part: $((SECONDS - started)) s"
done
[ ! -f build/ci/ctest.log ] || grep -E 'tests passed|tests failed' build/ci/ctest.log
