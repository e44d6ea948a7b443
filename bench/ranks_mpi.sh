#!/usr/bin/env bash
# One tree over the points of 1, 2, 4 and 8 processes that mpirun starts, a thread each: processor times of all of them against
# those of one, how much of these were spent in MPI, where ranks that wait look again and again, and the wall.
#   bench/ranks_mpi.sh BUILD_FOLDER [options of sapwood_ranks_mpi_bench]
set -eu
program=$1/bench/sapwood_ranks_mpi_bench
launcher=$(sed -n 's/^MPIEXEC_EXECUTABLE:[A-Z]*=//p' "$1/CMakeCache.txt") # of the MPI that the program is linked with
shift
if [ ! -x "$program" ] || [ ! -x "$launcher" ]; then
    echo "ranks of MPI: skipped, there is no MPI"
    exit
fi
# As root, and on few processors, Open MPI wants to be told; ranks that wait leave the processor to others.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_hwloc_base_binding_policy=none
times=$(mktemp)
trap 'rm -f "$times"' EXIT
for ranks in 1 2 4 8; do "$launcher" -n "$ranks" "$program" "$@" </dev/null >>"$times"; done
"$launcher" --version | head -n 1
cat <<'HEAD'
Processor times of all ranks: milliseconds of 1 rank, and of 2, 4, 8 ranks against it; the same without what was spent in MPI;
then 1 rank over the longer of 2, by processor time and by the wall.

| key          |    1 ms |   2/1 |   4/1 |   8/1 | 2 without | 4 without | 8 without |   cpu |  wall |
|--------------|--------:|------:|------:|------:|----------:|----------:|----------:|------:|------:|
HEAD
awk '
  NF != 6 { print; wrong = 1; exit }
  !($1 in seen) { seen[$1] = 1; keys[++count] = $1 }
  { all[$1, $2] = $3; own[$1, $2] = $4; most[$1, $2] = $5; wall[$1, $2] = $6 }
  function both(k) {
    if (k in seen && "build" in seen)
      printf "build and %s, 2 ranks over 1: by the longer processor time %.2f x, by the wall %.2f x\n", k,
        (all["build", 1] + all[k, 1]) / (most["build", 2] + most[k, 2]),
        (wall["build", 1] + wall[k, 1]) / (wall["build", 2] + wall[k, 2])
  }
  END {
    if (!wrong && NR != 4 * count) { print "these are not 1, 2, 4 and 8 ranks, a line for each and each key"; wrong = 1 }
    if (wrong) exit 1
    for (i = 1; i <= count; i++) {
      k = keys[i]
      printf "| %-12s | %7.1f |", k, all[k, 1]
      for (r = 2; r <= 8; r *= 2) printf " %5.2f |", all[k, r] / all[k, 1]
      for (r = 2; r <= 8; r *= 2) printf " %9.2f |", own[k, r] / own[k, 1]
      printf " %5.2f | %5.2f |\n", all[k, 1] / most[k, 2], wall[k, 1] / wall[k, 2]
    }
    both("placed-1")
    both("placed-8")
    both("placed-16")
  }' "$times"
