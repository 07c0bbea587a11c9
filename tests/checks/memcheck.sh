#!/usr/bin/env bash
# memcheck.sh BUILD_DIR: engine and kernels under valgrind, which sees reads of bytes that nobody wrote.
set -euo pipefail
corpus="$(cd "$(dirname "$0")/.." && pwd)/fuzz/corpus"
cd "$1/tests"
check() { valgrind --quiet --error-exitcode=1 "$@"; }
check engine/engine_test --gtest_brief=1
check engine/c_api_test
check fuzz/plan_fuzzer "$corpus/plan" >fuzz/memcheck.log
