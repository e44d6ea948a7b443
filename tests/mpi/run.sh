#!/usr/bin/env bash
# Ranks that are processes: with each MPI that is found, Open MPI and MPICH, the engine is built beside a library that is
# there already, and tried: the program cluster.c, and the command line, which must write the same files by any number of
# processes, and end on all of them alike. Exit status 77: there is no MPI.
#   tests/mpi/run.sh BUILD_FOLDER
set -u
export LC_ALL=C
[ $# = 1 ] && [ -x "$1/sapwood" ] || { echo "usage: run.sh BUILD_FOLDER" >&2; exit 2; }
build=$(cd "$1" && pwd)
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sapwood=$build/sapwood
failures=0 checks=0
# As root, and on few processors, Open MPI wants to be told; ranks that wait leave the processor to others.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none

failed() { failures=$((failures + 1)); printf 'failed: %s\n' "$*"; }
check() { checks=$((checks + 1)); "$@" || failed "$engine: $*"; } # a command that must be true

# ---- Engines.

compiler_of() { # compiler_of NAME: the command that compiles for it; false if it, or its launcher, is missing
  local compiler=mpicc.$1 launcher=mpirun.$1
  if ! command -v "$compiler" "$launcher" >/dev/null; then
    compiler=mpicc launcher=mpirun
    { "$launcher" --version; } 2>/dev/null | grep -qiE "$2" || return 1
    command -v "$compiler" >/dev/null || return 1
  fi
  echo "$compiler $launcher"
}
make_engine() {
  local name folder=$work/$engine
  name=$(cd "$build" && echo libsapwood.so.*.*.*)
  name=${name%.*}
  name=${name/libsapwood/libsapwood_mpi}
  mkdir -p "$folder" &&
    "$compiler" -std=c17 -O1 -I"$top/include" -fPIC -shared -o "$folder/$name" "$top/src/cluster/mpi/comm_mpi.c" \
      -L"$build" -lsapwood &&
    "$compiler" -std=c17 -O1 -I"$top/include" -DSAP_MPI_PIECE=16384 -o "$folder/cluster" "$top/tests/mpi/cluster.c" \
      "$top/src/cluster/mpi/comm_mpi.c" -L"$build" -lsapwood -lm &&
    "$compiler" -std=c17 -O1 -I"$top/include" -o "$folder/ranks" "$top/examples/mpi/ranks.c" \
      "$top/src/cluster/mpi/comm_mpi.c" -L"$build" -lsapwood
}
place=$work/one # where a case lies, for those that run side by side
ranks() { # ranks N COMMAND...: what it prints goes to $place.out, and what it says to $place.said
  local number=$1
  shift
  # Open MPI's launchers fall over each other where they have one folder for temporary files.
  mkdir -p "$place.tmp"
  TMPDIR=$place.tmp LD_LIBRARY_PATH=$work/$engine:$build timeout 60 "$launcher" -n "$number" "$@" \
    </dev/null >"$place.out" 2>"$place.said"
}

# ---- One file from any number of ranks.

same() { # same N ARGUMENT...: with -o FILE and more of the kind under @, written by N ranks and by one process
  local number=$1 status=0 one=0
  shift
  rm -rf "$work/one" "$work/many" && mkdir "$work/one" "$work/many"
  "$sapwood" "${@//@/$work/one}" >"$work/one/stdout" 2>"$work/one.said" || one=$?
  ranks "$number" "$sapwood" "${@//@/$work/many}" || status=$?
  cp "$place.out" "$work/many/stdout"
  checks=$((checks + 1))
  [ $one = 0 ] && [ $status = 0 ] || { failed "$engine, $number ranks: $*: exit $status, alone $one"; cat "$place.said"; return; }
  diff -r "$work/one" "$work/many" >/dev/null || failed "$engine, $number ranks: $*: other files than one process writes"
}
# refused N STATUS TEXT ARGUMENT...: exit status, and one sentence that has the text; no file is left. Launchers take a
# second to end, so that three run side by side; judge waits for them.
refused() {
  cases=$((cases + 1))
  refused_one "$@" >"$work/case.$cases.verdict" &
  [ $((cases % 3)) != 0 ] || wait
}
cases=0
refused_one() {
  local number=$1 expected=$2 text=$3 status=0 place=$work/case.$cases
  shift 3
  mkdir "$place"
  ranks "$number" "$sapwood" "${@//@/$place}" || status=$?
  [ $status = "$expected" ] || failed "$engine, $number ranks: $*: exit $status, not $expected"
  [ "$(grep -c '^sapwood ' "$place.said")" = 1 ] || { failed "$engine, $number ranks: $*: not one sentence"; cat "$place.said"; }
  grep '^sapwood ' "$place.said" | grep -qF -- "$text" || { failed "$engine, $number ranks: $*: does not say '$text'"; cat "$place.said"; }
  [ -z "$(ls -A "$place")" ] || failed "$engine, $number ranks: $*: leaves $(ls -A "$place")"
}
judge() {
  wait
  checks=$((checks + cases))
  cases=0
  cat "$work"/case.*.verdict
  failures=$((failures + $(cat "$work"/case.*.verdict | grep -c '^failed')))
  rm -rf "$work"/case.*
}

make_files() {
  local points=$work/points.csv queries=$work/queries.csv boxes=$work/boxes.csv
  awk 'BEGIN { srand(7); print "x,y,z"; for (i = 0; i < 4001; i++) printf "%.4f,%.4f,%.4f\n", rand(), rand(), i % 5 ? rand() : .5 }' >"$points"
  awk 'BEGIN { srand(9); print "x,y,z"; for (i = 0; i < 1003; i++) printf "%.6f,%.6f,%.6f\n", rand(), rand(), rand() }' >"$queries"
  awk 'BEGIN { srand(11); for (i = 0; i < 57; i++) { x = rand(); y = rand(); printf "%f,%f,0,%f,%f,1\n", x, y, x + .1, y + .1 } }' >"$boxes"
  awk 'BEGIN { for (i = 0; i < 5; i++) print i, i * i, 1 }' >"$work/five.xyz"
  local format
  for format in npy ply pcd las; do "$sapwood" convert -q "$points" -o "$work/points.$format" || return 1; done
  "$sapwood" convert -q "$queries" -o "$work/queries.npy" &&
    "$sapwood" convert -q --precision float64 "$queries" -o "$work/queries64.npy" &&
    "$sapwood" convert -q "$boxes" -o "$work/boxes.npy" &&
    "$sapwood" convert -q "$work/five.xyz" -o "$work/five.npy" &&
    gzip -c "$points" >"$work/points.csv.gz" &&
    sed '3001s/.*/0.5,nan,0.5/' "$points" >"$work/nan.csv" && # of the last ranks
    "$sapwood" convert -q "$work/nan.csv" -o "$work/nan.npy" &&
    head -c 40000 "$work/points.npy" >"$work/cut.npy" && head -c 4000 "$work/points.ply" >"$work/cut.ply" &&
    "$sapwood" build -q "$work/points.npy" -o "$work/tree.sap"
}

few() { # what is tried with each engine; MPICH's ranks, which wait without leaving the cores to others, write few files
  local n many=3
  [ $engine != openmpi ] || many=8
  for n in $(seq 8); do check ranks "$n" "$work/$engine/cluster"; done
  same 2 nearest "$work/points.npy" -k 8 -o @/ids.npy --distances @/d.npy
  same $many nearest "$work/points.npy" "$work/queries.npy" -k 3 -o @/ids.npy
  same 2 radius "$work/points.npy" "$work/queries.npy" --radius 0.05 -o @/o.npy --ids @/i.npy --distances @/d.npy
  same 2 box "$work/points.npy" "$work/boxes.npy" --ids @/i.npy -o @/o.npy
  refused 3 1 'of point 2999 is not finite' nearest "$work/nan.npy" -k 2 -o @/ids.npy
}
more() { # and with one
  same 2 nearest "$work/points.npy" -k 5 -o @/ids.csv
  same 1 nearest --mpi always "$work/points.npy" -k 4 -o @/ids.npy
  same 8 nearest "$work/points.npy" -k 1 --with-self -o @/ids.npy --distances @/d.ply
  same 3 nearest "$work/points.ply" "$work/queries.csv" -k 2 -o @/ids.npy
  same 2 nearest "$work/points.pcd" "$work/queries64.npy" -k 2 -o @/ids.npy --distances @/d.npy
  same 3 nearest "$work/points.las" "$work/points.npy" -k 2 --radius 0.02 -o @/ids.xyz
  same 3 nearest "$work/points.csv.gz" "$work/queries.csv" -k 2 --precision float64 --distances @/d.npy
  same 13 nearest "$work/five.npy" "$work/five.xyz" -k 7 -o @/ids.npy --distances @/d.npy
  same 8 nearest "$work/five.npy" -k 2 -o @/ids.npy
  same 3 nearest "$work/nan.npy" -k 3 --drop-nonfinite -o @/ids.npy --distances @/d.npy
  same 3 nearest "$work/points.npy" "$work/nan.npy" -k 3
  same 3 radius "$work/points.npy" --radius 0.05 -o @/o.npy --ids @/i.npy --distances @/d.npy
  same 2 radius "$work/points.csv" --radius 0.05 --pairs -o @/o.npy --ids @/i.npy
  same 3 radius "$work/points.npy" --radius 0.05 --sorted --with-self -o @/o.npy --ids @/i.npy --distances @/d.npy
  same 3 radius "$work/nan.npy" --radius 0.05 --count --drop-nonfinite -o @/c.npy
  same 2 radius "$work/points.las" "$work/queries.npy" --radius 0.05
  same 8 radius "$work/five.npy" "$work/queries.npy" --radius 0.7 --count
  same 2 box "$work/points.ply" "$work/boxes.csv" -o @/c.csv
  same 3 box "$work/points.npy" --lower 0,0,0 --upper 0.5,0.5,0.5 --ids @/i.npy --sorted
  refused 3 1 'it is truncated' nearest "$work/cut.npy" -k 2 -o @/ids.npy
  refused 2 1 'it is truncated' nearest "$work/points.npy" "$work/cut.ply" -k 2 -o @/ids.npy
  refused 2 1 "No such file or directory" nearest "$work/absent.npy" -k 2 -o @/ids.npy
  refused 2 1 "No such file or directory" nearest "$work/points.npy" -k 2 -o @/absent/ids.npy
  refused 2 2 '--metric is for one process' nearest "$work/points.npy" -k 2 --metric l1 -o @/ids.npy
  refused 2 2 'is a saved tree, which one process searches' nearest "$work/tree.sap" -k 2 -o @/ids.npy
  refused 2 2 'unknown option --bad' nearest "$work/points.npy" -k 2 --bad
  refused 3 1 'nearest, radius and box are for many' info "$work/points.npy"
  refused 2 1 'the limit is 10' radius "$work/points.npy" --radius 0.1 --limit 10 -o @/o.npy
  if [ -w /dev/full ]; then refused 2 1 'No space left on device' nearest "$work/points.npy" -k 2 --format npy -o /dev/full; fi
  check ranks 3 "$work/$engine/ranks" "$work/points.npy" 4 "$work/ranks.npy" # an example, beside the command line
  "$sapwood" nearest -q "$work/points.npy" "$work/points.npy" -k 4 -o "$work/expected.xyz"
  check "$sapwood" convert -q "$work/ranks.npy" -o "$work/ranks.xyz"
  check cmp "$work/ranks.xyz" "$work/expected.xyz"
  check ranks 2 "$sapwood" --version
  check test "$(grep -c '^sapwood ' "$place.out")" = 1
  check ranks 2 "$sapwood" info --mpi never "$work/five.npy"
  check test "$(grep -c 'float32' "$place.out")" = 2
}

# A rank that is killed ends the others, which wait for it, and no file is left.
killed() {
  local start=$SECONDS status=0
  rm -rf "$work/many" && mkdir "$work/many"
  # shellcheck disable=SC2016
  TMPDIR=$work LD_LIBRARY_PATH=$work/$engine:$build timeout 60 "$launcher" -n 3 bash -c \
    'rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; echo $$ >"$0/pid.$rank"; exec "$@"' "$work" \
    "$sapwood" nearest - "$work/queries.npy" -k 2 -o "$work/many/ids.npy" < <(sleep 20) >"$work/out" 2>"$work/said" &
  for _ in $(seq 100); do [ -s "$work/pid.2" ] && break; sleep 0.1; done
  sleep 1
  kill -KILL "$(cat "$work/pid.2")"
  wait $! || status=$?
  checks=$((checks + 1))
  [ $status != 0 ] && [ $status != 124 ] || failed "$engine: a rank was killed: exit $status"
  [ $((SECONDS - start)) -lt 15 ] || failed "$engine: a rank was killed: the others ended $((SECONDS - start)) s later"
  [ -z "$(ls -A "$work/many")" ] || failed "$engine: a rank was killed: $(ls -A "$work/many") is left"
  rm -f "$work"/pid.*
}

make_files || { echo "failed: files to begin with"; exit 1; }
found=
for engine in openmpi mpich; do
  case $engine in openmpi) known='open mpi|open-mpi' ;; *) known='mpich|hydra' ;; esac
  if ! programs=$(compiler_of $engine "$known"); then
    echo "$engine: not found"
    continue
  fi
  read -r compiler launcher <<<"$programs"
  make_engine || { failed "$engine: is not built"; continue; }
  start=$SECONDS
  few
  [ "$found" ] || more
  [ "$found" ] || killed
  judge
  found+=" $engine"
  echo "$engine: $((SECONDS - start)) s"
done
[ "$found" ] || [ $failures != 0 ] || exit 77
echo "$checks checks, $failures failed:$found"
[ $failures = 0 ]
