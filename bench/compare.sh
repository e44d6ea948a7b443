#!/usr/bin/env bash
# Compares two builds of Sapwood: runs the same benchmark of both in turn and prints, row by row, how the times differ.
#   bench/compare.sh OLD NEW PROGRAM [options of the program]
#     OLD, NEW   build folders, such as build/release
#     PROGRAM    sapwood_bench, sapwood_rays_bench or sapwood_gpu_bench
#   ROUNDS=N     rounds, default 3; each runs either build once, the order changing from round to round
# Of a row it prints the median and the smallest of all samples (on a GPU: of the rounds' medians). Other work on the
# machine raises medians more than smallest times, a slower program raises both: a row is called slower, and the exit
# is 1, if both have grown by more than 5 %.
set -eu
[ $# -ge 3 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
old=$1 new=$2 program=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# once SIDE FOLDER OPTIONS...: a run, whose samples are appended to work/SIDE as "row seconds".
once() {
    local side=$1 folder=$2
    shift 2
    if [ "$program" = sapwood_gpu_bench ]; then
        "$folder/bench/$program" "$@" --csv "$work/rows.csv" >"$work/log" || [ $? = 1 ]
        awk -F, 'NR > 1 && $8 > 0 { print $1 "/" $2 "/" $3 "/" $4 "/" $5 "/" $6 "/" $7 "/" $16, $8 }' "$work/rows.csv" >>"$work/$side"
    else
        "$folder/bench/$program" "$@" --out "$work" >"$work/log" || [ $? = 1 ]
        awk -F, 'NR > 1 && tolower($2) !~ /nanoflann|flann|cgal|scipy|embree/ { gsub(" ", "_"); print $1 "/" $2, $4 }' "$work/samples.csv" >>"$work/$side"
    fi
}
for ((round = 0; round < ${ROUNDS:-3}; round++)); do
    if ((round % 2 == 0)); then
        once old "$old" "$@"
        once new "$new" "$@"
    else
        once new "$new" "$@"
        once old "$old" "$@"
    fi
done

sort -k1,1 -k2,2g "$work/old" | sed 's/^/old /' >"$work/all"
sort -k1,1 -k2,2g "$work/new" | sed 's/^/new /' >>"$work/all"
awk '
    { key = $2; if (!(key in seen)) { seen[key] = 1; name[++rows] = key } n = ++count[$1, key]; time[$1, key, n] = $3 }
    function median(side, key,   n) {
        n = count[side, key]
        return n % 2 ? time[side, key, (n + 1) / 2] : (time[side, key, n / 2] + time[side, key, n / 2 + 1]) / 2
    }
    END {
        printf "%-58s %12s %12s %8s %9s\n", "row", "old", "new", "new/old", "smallest"
        for (i = 1; i <= rows; i++) {
            key = name[i]
            if (!count["old", key] || !count["new", key]) { printf "%-58s only in one of the builds\n", key; continue }
            a = median("old", key); b = median("new", key); least = time["new", key, 1] / time["old", key, 1]
            slower = b > 1.05 * a && least > 1.05
            printf "%-58s %12.6g %12.6g %8.3f %9.3f%s\n", key, a, b, b / a, least, slower ? "  slower" : ""
            bad += slower
        }
        printf "%d rows, %d more than 5 %% slower\n", rows, bad
        exit bad > 0
    }' "$work/all"
