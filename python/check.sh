#!/usr/bin/env bash
# The package, as a stranger meets it: makes the sdist and, out of it, the wheel; installs the wheel into a virtual
# environment that is new; runs all tests there, the examples, and what the types say.
#   python/check.sh BUILD [--thorough]   BUILD: a build folder of CMake's, configured with -DSAPWOOD_PYTHON=ON, whose
#                                        objects the wheel is linked from. --thorough: more cases, for minutes
# PYTHON names the Python to use. The environment stays in BUILD/python/venv.
set -euo pipefail

[ $# -ge 1 ] || { sed -n '4,6s/^# *//p' "$0" >&2; exit 2; }
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
work=$build/python

say() { printf '>> %s\n' "$*"; }
quietly() {
  "$@" >"$work/check.log" 2>&1 || { cat "$work/check.log"; echo "failed: $*"; exit 1; }
}

say "sdist, and the wheel out of it"
rm -rf "$work/dist" "$work/venv"
quietly env SAPWOOD_BUILD="$build" "$python" -m build --no-isolation --outdir "$work/dist" "$here"
wheel=$(echo "$work"/dist/sapwood-*-cp311-abi3-*.whl)
[ -f "$wheel" ] || { ls "$work/dist"; echo "there is no wheel for the limited API of 3.11"; exit 1; }
"$here/check_package.py" "$wheel" "$work"/dist/sapwood-*.tar.gz "$here/.."

say "a new virtual environment"
"$python" -m venv --system-site-packages "$work/venv"
quietly "$work/venv/bin/python" -m pip install --no-index --no-deps "$wheel"
python=$work/venv/bin/python
"$python" -m sapwood --version
"$work/venv/bin/sapwood" --version >/dev/null

# From a folder where only the installed package is called sapwood.
say "tests"
cd "$here/tests"
"$python" -m pytest -q -p no:cacheprovider -c "$here/pyproject.toml" --rootdir "$here" "${@:2}" .
if "$python" -c 'import mypy' 2>/dev/null; then
  say "types"
  cd "$work" # where mypy leaves what it keeps
  installed=$("$python" -c 'import sapwood, os; print(os.path.dirname(sapwood.__file__))')
  "$python" -m mypy --config-file "$here/pyproject.toml" "$installed"
  "$python" -m mypy --config-file "$here/pyproject.toml" "$here/tests/typed.py"
  "$python" -m mypy.stubtest sapwood._sapwood sapwood._results --mypy-config-file "$here/pyproject.toml" \
    --allowlist "$here/tests/stubtest.txt"
else
  say "types: skipped, mypy is missing"
fi
