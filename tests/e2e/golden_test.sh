#!/usr/bin/env bash
# golden_test.sh TAKT SHARED MODEL...: converts each with --numerics tflite, runs every case of SHARED/golden/MODEL, and
# compares all outputs byte by byte; converting twice must give the same file. Exit code 77: SHARED is absent (skipped).
set -euo pipefail
takt=$1 shared=$2
shift 2
[ -d "$shared/golden" ] || { echo "SKIPPED: no goldens at $shared"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
for model in "$@"; do
  golden=$shared/golden/$model
  "$takt" convert "$shared/models/$model.tflite" -o "$work/a.takt" --numerics tflite > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  "$takt" convert "$shared/models/$model.tflite" -o "$work/b.takt" --numerics tflite > "$work/log" 2>&1
  cmp "$work/a.takt" "$work/b.takt" || failed=1
  cases=0
  for first in "$golden"/in_*_0.bin; do
    label=$(basename "$first" _0.bin) label=${label#in_}
    inputs=()
    for input in "$golden/in_${label}"_[0-9].bin; do inputs+=(--input "$input"); done
    rm -rf "$work/out"
    "$takt" run "$work/a.takt" "${inputs[@]}" --output-dir "$work/out" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    for expected in "$golden/out_${label}"_[0-9].bin; do
      got=$work/out/out_${expected##*_}
      cmp "$got" "$expected" || { echo "$model case $label differs"; failed=1; }
    done
    cases=$((cases + 1))
  done
  echo "$model: $cases cases"
  [ "$cases" -gt 0 ] || failed=1
done
exit $failed
