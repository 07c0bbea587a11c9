#!/bin/sh
# npu_e2e_test.sh TAKT SHARED MODEL...: plans for emulated machines give the bytes of plans for the host, in both numerics;
# the first model on every preset.
# Skips (77) if the shared models are absent.
set -eu
takt=$1 shared=$2
shift 2
[ -d "$shared/models" ] || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
targets=$(cd "$(dirname "$0")/../../ports/npu_emu/machines" && ls | sed 's/[.]json$//')
for model in "$@"; do
  inputs=""
  for file in "$shared/golden/$model"/in_1_*.bin; do inputs="$inputs --input $file"; done
  for numerics in fp32_rne tflite; do
    "$takt" convert "$shared/models/$model.tflite" -o "$work/host.takt" --numerics $numerics >/dev/null 2>&1
    "$takt" run "$work/host.takt" $inputs --output-dir "$work/host" >/dev/null
    for target in $targets; do
      "$takt" convert "$shared/models/$model.tflite" -o "$work/npu.takt" --numerics $numerics --target $target >"$work/log" 2>&1
      "$takt" run "$work/npu.takt" $inputs --output-dir "$work/npu" >/dev/null
      if diff -r "$work/host" "$work/npu" >/dev/null; then verdict=same; else verdict=DIFFERENT failed=1; fi
      echo "$model $numerics $verdict $(grep 'cycles (' "$work/log")"
    done
    # Too little memory: cascades and tensors outside (ethos-u65), cascades only (ethos-u55; or a named error).
    for tight in "ethos-u65-256 24000" "ethos-u65-256 8000" "ethos-u65-512 40000" "ethos-u55-64 45000" "ethos-u55-128 20000"; do
      set -- $tight
      "$takt" convert "$shared/models/$model.tflite" -o "$work/npu.takt" --numerics $numerics --target "$1" \
        --set memories.sram.bytes="$2" >"$work/log" 2>&1 || {
        grep -q 'bytes are missing' "$work/log" && echo "$model $numerics $tight: does not fit" && continue
        cat "$work/log"
        failed=1
        continue
      }
      "$takt" run "$work/npu.takt" $inputs --output-dir "$work/npu" >/dev/null
      if diff -r "$work/host" "$work/npu" >/dev/null; then verdict=same; else verdict=DIFFERENT failed=1; fi
      echo "$model $numerics $verdict $tight $(grep 'are missing' "$work/log" | sed 's/.*missing; //')"
    done
  done
  targets="ethos-u55-128 ethos-u55-256 gemmini-16x16 davinci-310 davinci-tiny"
done
exit $failed
