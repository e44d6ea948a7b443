#!/usr/bin/env bash
# A step of 100,000 points onto a mesh beside the same loop over Open3D's nearest points (Debian: python3-open3d), one thread of
# each, processor time, medians; then Sapwood on two threads.
#   bench/align_mesh.sh BUILD_FOLDER MESH [PASSES]
set -euo pipefail
export LC_ALL=C OMP_NUM_THREADS=1
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 2 ] || { echo "usage: $0 BUILD_FOLDER MESH [PASSES]" >&2; exit 2; }
program=$1/bench/sapwood_align_mesh_bench mesh=$2 passes=${3-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$program" "$mesh" 1 "$passes" "$work" > "$work/one"
distance=$(awk '$1 == "distance" { print $2 }' "$work/one")
: > "$work/open3d"
if "${PYTHON-python3}" -c 'import open3d' 2> /dev/null; then
  OPENBLAS_NUM_THREADS=1 taskset -c 0 "${PYTHON-python3}" "$here/align_mesh_open3d.py" "$work" "$distance" "$passes" > "$work/open3d"
else
  echo "Open3D was not found (PYTHON names another python3)"
fi
OMP_NUM_THREADS=2 "$program" "$mesh" 2 "$passes" "$work" > "$work/two"
lscpu | sed -n 's/^Model name: */Machine: /p'
awk 'NF != 3 { next }
  FILENAME ~ /one$/ { keys[++n] = $1; one[$1] = $2; left[$1] = $3 }
  FILENAME ~ /open3d$/ { rival[$1] = $2; theirs[$1] = $3 }
  FILENAME ~ /two$/ { two[$1] = $2 }
  END { printf "%-8s %12s %12s %7s %12s  %s\n", "a step", "Sapwood ms", "Open3D ms", "ratio", "2 threads ms", "degrees left: Sapwood; Open3D"
        for (i = 1; i <= n; i++) { k = keys[i]
          printf "%-8s %12.3f %12s %7s %12.3f  %s; %s\n", k, 1e3 * one[k], k in rival ? sprintf("%.3f", 1e3 * rival[k]) : "-",
            k in rival ? sprintf("%.1f", rival[k] / one[k]) : "-", 1e3 * two[k], left[k], k in rival ? theirs[k] : "-" } }' \
  "$work/one" "$work/open3d" "$work/two"
