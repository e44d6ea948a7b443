#!/usr/bin/env bash
# Draws the GPU benchmark's rows: gpu_plots.sh [CSV [FOLDER]]    default: build/gpu/gpu.csv, build/bench
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
csv=${1:-$top/build/gpu/gpu.csv}
out=${2:-$top/build/bench}
rivals=$top/bench/gpu_rivals.csv
[ -s "$csv" ] || { echo "gpu_plots.sh: $csv is not there: run ./run gpu on a machine with a GPU" >&2; exit 1; }
command -v gnuplot >/dev/null || { echo "plots: skipped, gnuplot is not installed"; exit 0; }
mkdir -p "$out"

# Columns of the CSV: work 1, n 2, dims 3, k 4, order 5, walk 6, leaf 7, ms 8, queries 16, depth 17.
leaves() {  # leaves DATA
  awk -F, -v data="$1" '
    function cell(row, column) { value[row, column] = $8; depth[row] = $17; if (!(row in seen)) { seen[row]; order[++rows] = row } }
    $1 == "leaf-" data { cell($7, ($4 == 1 ? 1 : 3) + ($5 == "ordered")) }
    $1 == "cpu-" data { cell($7, 5) }
    $1 == "leaf-build-" data { cell($7, 6) }
    END {
      for (i = 1; i <= rows; i++) {
        row = order[i]
        printf "%d %d", row, depth[row]
        for (c = 1; c <= 6; c++) printf " %s", (row, c) in value ? value[row, c] : "?"
        print ""
      }
    }' "$csv"
}
neighbours() {  # neighbours ORDER
  awk -F, -v order="$1" '
    $1 != "search-uniform" || $2 != 1000000 || $5 != order { next }
    FILENAME == ARGV[1] { if ($6 == "auto") ours[$4] = $8; next }
    { theirs[$6, $4] = $7; if (!($6 in seen)) { seen[$6]; names[++rivals] = $6 } }
    END {
      printf "k\tSapwood"
      for (i = 1; i <= rivals; i++) printf "\t%s", names[i]
      split("1 8 16", ks, " ")
      for (j = 1; j <= 3; j++) {
        printf "\n%d\t%s", ks[j], ks[j] in ours ? ours[ks[j]] : "?"
        for (i = 1; i <= rivals; i++) printf "\t%s", (names[i], ks[j]) in theirs ? theirs[names[i], ks[j]] : "?"
      }
      print ""
    }' "$csv" "$rivals"
}

datas=() orders=()
for data in uniform scan surface; do
  leaves "$data" >"$out/gpu_leaf_$data.dat"
  if [ -s "$out/gpu_leaf_$data.dat" ]; then datas+=("$data"); fi
done
for order in random ordered; do
  neighbours "$order" >"$out/gpu_k_$order.dat"
  if grep -q "^search-uniform,1000000,3,1,$order,auto," "$csv"; then orders+=("$order"); fi
done
gnuplot -e "folder='$out'; datas='${datas[*]-}'; orders='${orders[*]-}'" "$top/bench/gpu_plot.gp"
for name in "${datas[@]/#/leaf_}" "${orders[@]/#/k_}"; do echo "drew $out/gpu_$name.svg"; done
