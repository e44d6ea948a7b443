#!/usr/bin/env bash
# Builds the library and test_determinism without optimisation, and runs it: it must arrive at the numbers that stand in
# the test. Of gcc the presets release and asan test -O3 and -O1; of clang the preset tsan tests -O2, and -O3 is tested
# where there are neither AVX nor threads (./run test). Scratch: build/determinism.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=build/determinism

cmake -S . -B "$folder" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS='-O0 -DSAP_FEW_INSTANCES' -DSAPWOOD_SHARED=OFF -DSAPWOOD_CLI=OFF \
  -DSAPWOOD_EXAMPLES=OFF -DSAPWOOD_BENCH=OFF -DSAPWOOD_CUDA=OFF >/dev/null
cmake --build "$folder" --target test_determinism -j "$(nproc)" >/dev/null
exec "$folder/tests/test_determinism"
