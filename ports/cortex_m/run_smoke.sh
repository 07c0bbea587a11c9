#!/usr/bin/env bash
# run_smoke.sh TAKT_BINARY [WORK_DIR]: converts models with the host's `takt`, runs them on both emulated boards, compares
# every output byte with the host's, proves that no heap and no unwinder is linked, and prints what it all costs.
# Environment: CORES ("m4 m55"), NUMERICS (fp32_rne), TAKT_SHARED_DIR (more models and golden inputs, if it exists).
set -euo pipefail
takt="$(realpath "${1:?usage: run_smoke.sh TAKT_BINARY [WORK_DIR]}")"
root="$(cd "$(dirname "$0")/../.." && pwd)"
work="$(mkdir -p "${2:-$root/build/cortex_m}" && cd "${2:-$root/build/cortex_m}" && pwd)"
shared="${TAKT_SHARED_DIR:-$root/../shared}"
numerics="${NUMERICS:-fp32_rne}"
failed=0
ran=0

declare -A board=([m4]=mps2-an386 [m55]=mps3-an547)

complain() { echo "FAILED: $*" >&2; failed=1; }

# prepare MODEL.tflite INPUT...: makes $work/NAME with model.takt, kernels.h, inputs.bin and expected (hexadecimal).
prepare() {
  local model="$1" dir args=() input output
  dir="$work/$(basename "$model" .tflite)"
  shift
  mkdir -p "$dir/out"
  rm -f "$dir"/out/*
  "$takt" convert "$model" -o "$dir/model.takt" --numerics "$numerics" --emit-kernels "$dir/kernels.h" >"$dir/convert.log"
  cat "$@" >"$dir/inputs.bin"
  for input in "$@"; do args+=(--input "$input"); done
  "$takt" run "$dir/model.takt" "${args[@]}" --output-dir "$dir/out" >"$dir/run.log"
  for output in "$dir"/out/out_*.bin; do echo "output $(od -An -v -tx1 "$output" | tr -d ' \n')"; done >"$dir/expected"
}

# part MAP PATTERN: bytes of code and constants in the link map from objects that match.
part() {
  awk -v pattern="$2" '
    function hex(text, i, value) {
      for (i = 3; i <= length(text); ++i) value = 16 * value + index("0123456789abcdef", tolower(substr(text, i, 1))) - 1
      return value
    }
    /^Linker script and memory map/ { on = 1 }
    !on { next }
    /^ \.(text|rodata)[^ ]*$/ { getline rest; $0 = $0 rest }
    /^ \.(text|rodata|vectors)/ && NF >= 4 && $4 ~ pattern { sum += hex($3) }
    END { print sum + 0 }' "$1"
}

field() { awk -v phase="$2" -v word="$3" '$1 == phase { for (i = 2; i < NF; ++i) if ($i == word) print $(i + 1) }' "$1"; }

run_on() {
  local core="$1" dir="$2" name elf map log unwanted
  name="$(basename "$dir")"
  local build="$work/build-$core"
  log="$dir/$core.log"
  cmake -G Ninja -S "$root" -B "$build" --toolchain "$root/ports/cortex_m/toolchain.cmake" -DTAKT_CORTEX_M="$core" \
    -DTAKT_BUILD_CONVERTER=OFF -DTAKT_BUILD_TESTS=OFF -DTAKT_PLAN_DIR="$dir" >"$work/configure-$core.log"
  if ! cmake --build "$build" --target takt_bare_metal_run >"$dir/$core.build.log" 2>&1; then
    tail -30 "$dir/$core.build.log" >&2
    complain "$core $name does not build"
    return
  fi
  elf="$build/takt_bare_metal_run"
  map="$build/takt_bare_metal_run.map"
  unwanted="$(arm-none-eabi-nm "$elf" | awk '{print $NF}' |
    grep -E '^(_?(malloc|free|calloc|realloc)(_r)?|_sbrk(_r)?|_Zn[wa].*|_Zd[la].*|__cxa_throw|_Unwind_.*|__gxx_personality.*|_GLOBAL__sub_I.*)$' || true)"
  [ -z "$unwanted" ] || complain "$core $name links $(echo $unwanted)"
  timeout 300 qemu-system-arm -M "${board[$core]}" -display none -monitor none -serial none \
    -semihosting-config enable=on,target=native -icount shift=0 -kernel "$elf" >"$log" 2>&1 ||
    complain "$core $name: $(tail -1 "$log")"
  grep '^output' "$log" | cmp -s - "$dir/expected" || complain "$core $name: other bytes than the host's"
  ran=$((ran + 1))
  local opened initialised hashed
  opened="$(field "$log" open instructions)"
  initialised="$(field "$log" init instructions)"
  hashed="$(field "$log" open_with_hash instructions)"
  printf '%-4s %-42s %12s %10s %10s %10s %6s %6s %7s %7s %7s %7s\n' "$core" "$name" "$(field "$log" invoke instructions)" \
    "${opened:-?}" "${initialised:-?}" "$((${hashed:-0} - ${opened:-0}))" \
    "$(printf '%s\n' "$(field "$log" open stack)" "$(field "$log" init stack)" | sort -n | tail -1)" \
    "$(field "$log" invoke stack)" "$(part "$map" libtakt_engine)" "$(part "$map" libtakt_port_reference)" \
    "$(part "$map" 'lib(c|m|gcc|stdc\\+\\+|c_nano|g_nano|stdc\\+\\+_nano)\\.a')" \
    "$(part "$map" 'libtakt_port_cortex_m|takt_bare_metal_run')"
}

# First golden input of each shared model, a real image for our own.
if [ -f "$root/samples/fashion/fashion.tflite" ]; then
  prepare "$root/samples/fashion/fashion.tflite" "$root/samples/fashion/ankle_boot.raw"
  models=("$work/fashion")
else
  models=()
fi
for name in kws_ref_model vww_96_int8 pretrainedResnet_quant model_ToyCar_quant_fullint_micro_intio; do
  if [ -f "$shared/models/$name.tflite" ]; then
    prepare "$shared/models/$name.tflite" "$shared/golden/$name"/in_1_*.bin
    models+=("$work/$name")
  else
    echo "not run: $name (no $shared)"
  fi
done

printf '%-4s %-42s %12s %10s %10s %10s %6s %6s %7s %7s %7s %7s\n' core model invoke open init hash 'stk.i' 'stk.r' engine kernels libc board
for core in ${CORES:-m4 m55}; do
  for dir in "${models[@]}"; do run_on "$core" "$dir"; done
done
echo "Columns: instructions of an inference, of Open without the hash check, of Init, of the hash check;"
echo "bytes of stack in Open and Init, in Invoke; bytes of code and constants (model apart) by part."
[ "$ran" -gt 0 ] || complain "nothing was run"
exit "$failed"
