#!/usr/bin/env bash
# fuzz.sh BUILD_DIR [FUZZER...]: each fuzzer for TAKT_FUZZ_SECONDS (300) from its committed corpus, on all cores.
# What it learns is kept in BUILD_DIR/fuzz/NAME; a finding stops it and is left there as crash-*, timeout-* or oom-*.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
build="$(cd "$1" && pwd)"
shift
[ "$#" -gt 0 ] || set -- plan tflite onnx npu_stream machine data
failed=0
for name in "$@"; do
  mkdir -p "$build/fuzz/$name"
  if ! "$build/tests/fuzz/${name}_fuzzer" -max_total_time="${TAKT_FUZZ_SECONDS:-300}" -timeout=20 -rss_limit_mb=4096 \
      -print_final_stats=1 -artifact_prefix="$build/fuzz/$name/" -fork="$(nproc)" -ignore_crashes=0 \
      "$build/fuzz/$name" "$here/corpus/$name" >"$build/fuzz/$name.log" 2>&1; then
    tail -n 40 "$build/fuzz/$name.log"
    echo "$name: a finding; repeat it: $build/tests/fuzz/${name}_fuzzer FILE" >&2
    failed=1
  fi
  echo "$name: $(grep -oE '^#[0-9]+: cov: [0-9]+' "$build/fuzz/$name.log" | tail -n 1 || true)"
done
exit "$failed"
