#!/usr/bin/env bash
# check.sh BUILD_DIR: installs that build, then builds and runs this project against the install tree.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
build="$(cd "$1" && pwd)"
prefix="$build/install"
rm -rf "$prefix" "$build/package_consumer"
cmake --install "$build" --prefix "$prefix" >/dev/null
cmake -G Ninja -S "$here" -B "$build/package_consumer" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build "$build/package_consumer"
for document in README.md LICENSE ports/posix/README.md; do test -s "$prefix/share/doc/Takt/$document"; done
ctest --test-dir "$build/package_consumer" --output-on-failure --no-tests=error
