#!/usr/bin/env bash
# The package on a machine with an NVIDIA GPU: builds the wheel with CUDA, installs it into a folder, runs the tests (SciPy's
# own and those of arrays on the GPU among them) and times CuPy's, torch's and JAX's arrays. Nothing is installed besides.
#   python/gpu.sh [WHEEL]      WHEEL: one that was built elsewhere, instead
# Everything it makes is in build/gpu/python; the log of each step in build/log.
set -uo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
if [ -d /usr/local/cuda/bin ]; then PATH=$PATH:/usr/local/cuda/bin; fi
work=$PWD/build/gpu/python log=$PWD/build/log
mkdir -p "$work" "$log"
failed=()

part() {  # part NAME SECONDS COMMAND...: its log's end is shown
  local name=$1 seconds=$2 start=$SECONDS status=0
  shift 2
  timeout "$seconds" bash -c '"$@"' part "$@" >"$log/python-$name.txt" 2>&1 || status=$?
  if [ $status = 0 ]; then
    printf -- '-- %-24sok      %4d s  %s\n' "$name" $((SECONDS - start)) "$(grep -E '[0-9]+ (passed|targets)|OK' "$log/python-$name.txt" | tail -n 1)"
  else
    printf -- '-- %-24sFAILED  %4d s  (status %d) %s\n' "$name" $((SECONDS - start)) $status "$log/python-$name.txt"
    tail -n 60 "$log/python-$name.txt" | sed 's/^/   | /'
    failed+=("$name")
  fi
  return $status
}

build_wheel() {
  local options=(-DSAPWOOD_PYTHON=ON -DPython_EXECUTABLE="$(command -v "$python")" -DSAPWOOD_CUDA=ON)
  # A folder that ./run gpu has configured keeps its options, and its objects are used.
  if [ ! -e build/gpu/CMakeCache.txt ]; then
    options+=(-DCMAKE_BUILD_TYPE=Release -DCMAKE_CUDA_ARCHITECTURES=native -DSAPWOOD_TESTS=OFF -DSAPWOOD_BENCH=OFF
      -DSAPWOOD_EXAMPLES=OFF -DSAPWOOD_EMULATED=OFF -DSAPWOOD_SHARED=ON)
    if command -v ninja >/dev/null; then options+=(-G Ninja); fi
  fi
  cmake -S . -B build/gpu "${options[@]}" &&
    cmake --build build/gpu -j "$(nproc)" --target sapwood sapwood_python &&
    rm -rf "$work/dist" &&
    SAPWOOD_BUILD=$PWD/build/gpu "$python" -m build --no-isolation --wheel --outdir "$work/dist" python
}
install_wheel() {
  rm -rf "$work/site"
  "$python" -m pip install --no-index --no-deps --target "$work/site" "$1"
}

export python work # for the functions, which timeout runs in a shell of their own
export -f build_wheel install_wheel
"$python" -c 'import sys, numpy; print("-- Python", sys.version.split()[0], "NumPy", numpy.__version__)' || exit 1
wheel=${1:-}
if [ -z "$wheel" ]; then
  part wheel 400 build_wheel || exit 1
  wheel=$(echo "$work"/dist/*.whl)
fi
part install 60 install_wheel "$wheel" || exit 1
export PYTHONPATH=$work/site XLA_PYTHON_CLIENT_PREALLOCATE=false
cd python/tests
part tests 240 "$python" -m pytest -q -p no:cacheprovider -W default -c ../pyproject.toml --rootdir .. .
part scipy 120 "$python" scipy_tests.py
library=$PWD/../../build/gpu/libsapwood.so
part bench 120 "$python" ../bench/gpu.py $([ ! -e "$library" ] || echo --library "$library")
sed 's/^/   | /' "$log/python-bench.txt"
[ ${#failed[@]} = 0 ] || { echo "failed: ${failed[*]}"; exit 1; }
