#!/usr/bin/env bash
# Builds the library and test_determinism with each compiler that is here, at several optimisation levels, and runs it:
# all must arrive at the numbers that stand in the test. Of gcc the presets release and asan test -O3 and -O1, of clang
# the preset tsan tests -O2. Scratch: build/determinism.
set -euo pipefail
status=0
cd "$(dirname "$0")/.."

for way in "gcc -O0" "clang -O3"; do
  read -r compiler level <<<"$way"
  command -v "$compiler" >/dev/null || { echo "skipped: no $compiler here"; continue; }
  folder=build/determinism/$compiler$level
  cmake -S . -B "$folder" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$level" \
    -DSAPWOOD_SHARED=OFF -DSAPWOOD_CLI=OFF -DSAPWOOD_EXAMPLES=OFF -DSAPWOOD_BENCH=OFF -DSAPWOOD_CUDA=OFF >/dev/null
  cmake --build "$folder" --target test_determinism -j "$(nproc)" >/dev/null
  echo "$way:"
  "$folder/tests/test_determinism" || status=1
done
exit $status
