#!/usr/bin/env bash
# Installs what is missing (Debian, as root), builds, runs all tests. TAKT_CI_FULL=1 adds clang, sanitizers, Cortex-M.
set -euo pipefail
cd "$(dirname "$0")/.."
export TAKT_SHARED_DIR="${TAKT_SHARED_DIR:-$PWD/../shared}"
tests/install_packages.sh

suite() {
  echo "== $1"
  cmake --preset "$1"
  cmake --build --preset "$1"
  ctest --preset "$1"
}

suite ci
echo "== package_consumer"
samples/package_consumer/check.sh build/ci
if [ "${TAKT_CI_FULL:-0}" = 1 ]; then
  echo "== clang (build only)"
  cmake --preset clang
  cmake --build --preset clang
  suite asan-ubsan
  if [ -x ports/cortex_m/run_smoke.sh ]; then
    echo "== cortex-m"
    ports/cortex_m/run_smoke.sh "$(find build/ci -type f -name takt -perm -u+x | head -n 1)"
  else
    echo "SKIPPED cortex-m: no ports/cortex_m/run_smoke.sh"
  fi
fi

echo "== closing line of the full suite"
grep -E 'tests passed|tests failed' build/ci/ctest.log
