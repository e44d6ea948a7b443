#!/usr/bin/env bash
# Alignment beside small_gicp (SMALL_GICP names its include folder; Eigen in EIGEN or /usr/include/eigen3) and Open3D (Debian:
# python3-open3d), one thread of each, processor time, medians; then Sapwood on two threads.
#   bench/align.sh BUILD_FOLDER POINTS.ply [PASSES]
set -euo pipefail
export LC_ALL=C OMP_NUM_THREADS=1
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 2 ] || { echo "usage: $0 BUILD_FOLDER POINTS.ply [PASSES]" >&2; exit 2; }
program=$1/bench/sapwood_align_bench points=$2 passes=${3-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$program" "$points" 1 "$passes" "$work" > "$work/one"
distance=$(awk '$1 == "distance" { print $2 }' "$work/one")
: > "$work/small_gicp"; : > "$work/open3d"
if [ -n "${SMALL_GICP-}" ]; then
  "${CXX-c++}" -O3 -march=native -DNDEBUG -std=c++17 -I"${EIGEN-/usr/include/eigen3}" -I"$SMALL_GICP" \
    "$here/align_small_gicp.cpp" -o "$work/rival"
  taskset -c 0 "$work/rival" "$work" "$distance" "$passes" > "$work/small_gicp"
else
  echo "small_gicp was not asked for (SMALL_GICP names its include folder)"
fi
if "${PYTHON-python3}" -c 'import open3d' 2> /dev/null; then
  taskset -c 0 "${PYTHON-python3}" "$here/align_open3d.py" "$work" "$distance" "$passes" > "$work/open3d"
else
  echo "Open3D was not found (PYTHON names another python3)"
fi
OMP_NUM_THREADS=2 "$program" "$points" 2 "$passes" "$work" > "$work/two"
lscpu | sed -n 's/^Model name: */Machine: /p'
awk 'function ratio(a, b) { return a ? sprintf("%.1f", a / b) : "-" }
  function cell(s, k) { return k in s ? s[k] : "-" }
  NF != 4 { next }
  FILENAME ~ /one$/ { keys[++n] = $1; one[$1] = $2; steps[$1] = $3; left[$1] = $4 }
  FILENAME ~ /small_gicp$/ { gicp[$1] = $2; gicp_left[$1] = $3 " steps, " $4 }
  FILENAME ~ /open3d$/ { o3d[$1] = $2; o3d_left[$1] = $4 }
  FILENAME ~ /two$/ { two[$1] = $2 }
  END { printf "%-16s %10s %10s %6s %10s %6s %10s  %s\n", "work", "Sapwood s", "small_gicp", "ratio", "Open3D s", "ratio", "2 threads", "degrees left: Sapwood; small_gicp; Open3D"
        for (i = 1; i <= n; i++) { k = keys[i]
          printf "%-16s %10.4f %10s %6s %10s %6s %10.4f  %d steps, %s; %s; %s\n", k, one[k], cell(gicp, k), ratio(gicp[k], one[k]),
            cell(o3d, k), ratio(o3d[k], one[k]), two[k], steps[k], left[k], cell(gicp_left, k), cell(o3d_left, k) } }' \
  "$work/one" "$work/small_gicp" "$work/open3d" "$work/two"
