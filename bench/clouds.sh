#!/usr/bin/env bash
# Clouds beside Open3D (Debian: python3-open3d), nanoflann with Eigen (Debian: libnanoflann-dev, libeigen3-dev) and CGAL (Debian:
# libcgal-dev, libgmp-dev, libmpfr-dev), one thread of each, processor time, medians; then Sapwood on two threads.
#   bench/clouds.sh BUILD_FOLDER POINTS.ply [PASSES]
set -euo pipefail
export LC_ALL=C OMP_NUM_THREADS=1
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 2 ] || { echo "usage: $0 BUILD_FOLDER POINTS.ply [PASSES]" >&2; exit 2; }
program=$1/bench/sapwood_clouds_bench points=$2 passes=${3-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$program" "$points" 1 "$passes" "$work/points.raw" > "$work/one"
spacing=$(awk '$1 == "spacing" { print $2 }' "$work/one")
radius=$(awk '$1 == "radius" { print $2 }' "$work/one")
: > "$work/open3d"; : > "$work/nanoflann"; : > "$work/cgal"
if "${CXX-c++}" -O3 -march=native -DNDEBUG -std=c++17 -w -I"${EIGEN-/usr/include/eigen3}" "$here/clouds_nanoflann.cpp" \
  -o "$work/rival" 2> "$work/errors"; then
  taskset -c 0 "$work/rival" "$work/points.raw" "$spacing" "$passes" > "$work/nanoflann"
else
  echo "nanoflann or Eigen was not found"
fi
if "${CXX-c++}" -O3 -march=native -DNDEBUG -std=c++17 -w "$here/clouds_cgal.cpp" -o "$work/rival" -lgmp -lmpfr \
  2> "$work/errors"; then
  taskset -c 0 "$work/rival" "$work/points.raw" "$radius" "$passes" > "$work/cgal"
else
  echo "CGAL was not found"
fi
if "${PYTHON-python3}" -c 'import open3d' 2> /dev/null; then
  taskset -c 0 "${PYTHON-python3}" "$here/clouds_open3d.py" "$points" "$spacing" "$passes" > "$work/open3d"
else
  echo "Open3D was not found (PYTHON names another python3)"
fi
OMP_NUM_THREADS=2 "$program" "$points" 2 "$passes" > "$work/two"
lscpu | sed -n 's/^Model name: */Machine: /p'
awk 'FNR == 1 { file++ }
  file == 1 && NF == 3 { keys[++n] = $1; one[$1] = $2; found[$1] = $3 }
  FILENAME ~ /nanoflann$/ { near[$1] = $2 }
  FILENAME ~ /cgal$/ { cgal[$1] = $2 }
  FILENAME ~ /open3d$/ { rival[$1] = $2; theirs[$1] = $3 }
  FILENAME ~ /two$/ && NF == 3 { two[$1] = $2 }
  END { printf "%-16s %10s %10s %7s %10s %7s %10s %7s %10s %7s  %s\n", "work", "Sapwood s", "Open3D s", "ratio", "nanoflann", "ratio", "CGAL s", "ratio", "2 threads", "ratio", "found, by Open3D"
        for (i = 1; i <= n; i++) { k = keys[i]
          printf "%-16s %10.4f %10s %7s %10s %7s %10s %7s %10.4f %7.2f  %s, %s\n", k, one[k], rival[k] ? sprintf("%.4f", rival[k]) : "-",
            rival[k] ? sprintf("%.1f", rival[k] / one[k]) : "-", near[k] ? sprintf("%.4f", near[k]) : "-",
            near[k] ? sprintf("%.1f", near[k] / one[k]) : "-", cgal[k] ? sprintf("%.4f", cgal[k]) : "-",
            cgal[k] ? sprintf("%.1f", cgal[k] / one[k]) : "-", two[k], one[k] / two[k], found[k], theirs[k] != "" ? theirs[k] : "-" } }' \
  "$work/one" "$work/open3d" "$work/nanoflann" "$work/cgal" "$work/two"
