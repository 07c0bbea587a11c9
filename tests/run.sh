#!/usr/bin/env bash
# Installs what is missing (Debian, as root), builds, runs all tests.
set -euo pipefail
cd "$(dirname "$0")/.."
missing=$(xargs -a tests/packages.txt -n 1 sh -c 'dpkg -s "$0" >/dev/null 2>&1 || echo "$0"')
if [ -n "$missing" ]; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
fi
cmake -G Ninja -S . -B build/release -DCMAKE_BUILD_TYPE=Release
cmake --build build/release
ctest --test-dir build/release --output-on-failure --no-tests=error
