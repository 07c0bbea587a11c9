#!/usr/bin/env bash
# bench.sh TAKT SHARED: latency of each model on this host with the reference port (µs). Compare within one run only.
set -euo pipefail
takt=$1 shared=$2
root="$(cd "$(dirname "$0")/../.." && pwd)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '%-44s %12s %12s %12s\n' model p50 p99 max
for model in "$root/samples/fashion/fashion" "$shared"/models/{kws_ref_model,vww_96_int8,pretrainedResnet_quant,model_ToyCar_quant_fullint_micro_intio}; do
  [ -f "$model.tflite" ] || { echo "not run: $model.tflite"; continue; }
  "$takt" convert "$model.tflite" -o "$work/model.takt" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  "$takt" bench "$work/model.takt" --json > "$work/bench.json" 2> "$work/log" || { cat "$work/log"; exit 1; }
  python3 - "$(basename "$model")" "$work/bench.json" <<'PY'
import json, sys
report = json.load(open(sys.argv[2]))
print(f"{sys.argv[1]:44}", *(f"{report[key] / 1000:12.1f}" for key in ("p50_ns", "p99_ns", "max_ns")))
PY
done
