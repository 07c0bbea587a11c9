#!/usr/bin/env bash
# What is too long for each change, after the workflow's own suite: run before an issue is called resolved.
set -euo pipefail
cd "$(dirname "$0")/.."
tests/install_packages.sh --full
tests/run.sh consumer cortex-m gates sanitizers
cmake --build --preset ci --target fetch_npm_models && ctest --preset ci -R npm_models
cmake --workflow --preset clang
cmake --workflow --preset tidy
cmake --workflow --preset dev
cmake --workflow --preset fuzz-coverage
cmake --workflow --preset fuzz
cmake --workflow --preset cross
