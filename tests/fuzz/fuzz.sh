#!/usr/bin/env bash
# fuzz.sh BUILD_DIR: the tests on damaged models and plans, over and over with another seed. TAKT_FUZZ_SECONDS: 300.
# A failure prints its seed: TAKT_SEED=<seed> repeats it.
set -euo pipefail
tests="$1/tests"
end=$((SECONDS + ${TAKT_FUZZ_SECONDS:-300}))
rounds=0
while [ "$SECONDS" -lt "$end" ]; do
  export TAKT_SEED=$((RANDOM * 32768 + RANDOM))
  for program in engine/engine_test converter/converter_test; do
    "$tests/$program" --gtest_filter='*Corrupt*:*Damaged*:*Mutant*' --gtest_brief=1 > "$1/fuzz.log" 2>&1 ||
      { cat "$1/fuzz.log"; echo "TAKT_SEED=$TAKT_SEED fails in $program" >&2; exit 1; }
  done
  rounds=$((rounds + 1))
done
echo "$rounds rounds without a finding"
