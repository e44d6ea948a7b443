#!/usr/bin/env bash
# The four compute-sanitizer tools over the test programs that use a GPU: gpu_sanitizers.sh BUILD [SECONDS [PROGRAM...]]
# SECONDS is what each run may take (default 25); runs share the GPU. One that is stopped has failed only if something
# was found until then. PROGRAMs are those of BUILD/tests (default: all that are listed here). Logs: BUILD/sanitizers.
# Exit: 0, 1 if a tool or a test found something, 77 without the tool.
set -uo pipefail
build=${1:?"gpu_sanitizers.sh BUILD [SECONDS [PROGRAM...]]"}
seconds=${2:-25}
programs=" ${*:3} "
tool=$(command -v compute-sanitizer || true)
if [ -z "$tool" ] && [ -x /usr/local/cuda/bin/compute-sanitizer ]; then tool=/usr/local/cuda/bin/compute-sanitizer; fi
[ -n "$tool" ] || { echo "compute-sanitizer is not here"; exit 77; }
logs=$build/sanitizers
rm -rf "$logs"
mkdir -p "$logs"

# Names as the programs take them (parts of tests' names). The second lines of tree, nearest and radius are their longest
# tests, which reach every kernel.
jobs_of() {
  cat <<'LIST'
test_cuda few arrays_on nothing_waits bad_points rebuilding_allocates callers_memory a_gpu_describes
test_cuda hosts many_hosts
test_cuda_cloud few either_side refused not_built
test_cuda_cluster hosts is_the_tree large_parts
test_cuda_rebuilds hosts points_come rebuilds_take
test_cloud cases shapes_are
test_cloud_density cases densities_are periods
test_cloud_clusters cases clusters_are many_equal
test_cloud_relax cases a_step
test_cloud_project cases steps_are
test_cloud_sample cases samples_are samples_of
test_gather cases sums_are many_queries
test_align few results_are
test_cuda_copies few sizes_of which_copies
test_cuda_gl few trees_go moving no_cuda
test_cuda_graph few graphs_give captured_calls
test_cuda_instances few rays_that instances_move
test_cuda_mesh few options rebuilt_trees_are_new_ones_in long_leaves bad_meshes
test_cuda_mesh all trees_of
test_cuda_photons few photons_are light_is own_photons
test_cuda_rays few few_rays trees_come
test_cuda_rays all answers
test_cuda_render few callers_stream other_pictures empty short_of progress
test_cuda_render all pictures_are
test_cuda_rows few rows_
test_cuda_surface few surfaces_lie captures
test_cuda_voxels few voxels_are refusals cells_of
test_skin few results_are
test_subdivide few results_are captured_calls
test_surface few single_cells noise
test_vvh cases planes_spare the_same radii
test_cuda_verify few halved_nodes good_trees
test_reentry few callbacks
test_tree few strides rebuilding copies_stand_alone zeros_between largest_coordinates
test_tree cases every_case
test_nearest few no_queries points_among statistics
test_nearest walks walks_of deep_trees
test_nearest cases all_cases
test_radius few inclusive freeing radius_squared pairs_agree
test_radius cases all_cases
test_box few many
test_metrics few many points_among
test_metrics powers powers
test_periods few many
test_pairs few large sums_are
test_cuda_sets few either_side refused
test_compact few small_counts several_parts out_ahead arguments
LIST
}

# run LOG COMMAND...: for so many seconds at most. A tool that is stopped may leave its test program behind: what has the
# log's name in its environment goes with it.
run() {
  local log=$1 status=0 place
  shift
  { env SANITIZED="$log" timeout -k 5 "$seconds" "$@" >"$log" 2>&1; } 2>/dev/null || status=$?
  for place in /proc/[0-9]*; do
    if grep -qzxF "SANITIZED=$log" "$place/environ" 2>/dev/null; then kill -KILL "${place#/proc/}" 2>/dev/null; fi
  done
  return "$status"
}

one() {  # one TOOL PROGRAM NAME TEST...
  local kind=$1 program=$2 job=$3 name=$1-$2-$3 status=0 options=(--error-exitcode 9) start=$SECONDS
  shift 3
  # Tests ask the driver about addresses that are none: refusals are no errors.
  if [ "$kind" = memcheck ]; then options+=(--leak-check full --report-api-errors no); fi
  # Of host threads that launch at once initcheck reports what is not so: see the control below.
  if [ "$kind $job" = "initcheck hosts" ]; then options+=(--force-blocking-launches); fi
  run "$logs/$name.txt" "$tool" --tool "$kind" "${options[@]}" "$build/tests/$program" "$@" || status=$?
  # What a finding looks like in the log of a run that was stopped before its summary.
  local found='^========= (Invalid|Host API|Error:|Uninitialized|Race|Warning: Race|Barrier|Leaked|Misaligned|Divergent)'
  case $status in
  0) verdict=clean ;;
  124 | 137) if grep -qE "$found" "$logs/$name.txt"; then verdict=FOUND; else verdict="clean until stopped"; fi ;;
  9) verdict=FOUND ;;
  # Where a test is skipped, the tool has nothing to look at and says so.
  255) if grep -q 'terminated before first instrumented' "$logs/$name.txt"; then verdict=skipped; else verdict="FAILED (255)"; fi ;;
  *) verdict="FAILED ($status)" ;;
  esac
  printf '%-10s %-13s %-6s %-20s %3d s  %s\n' "$kind" "$program" "$job" "$verdict" $((SECONDS - start)) \
    "$(sed -nE 's/^([0-9]+ passed, .*)/\1/p' "$logs/$name.txt" | tail -n 1)" >"$logs/$name.line"
}

for program in "${@:3}"; do
  jobs_of | grep -q "^$program " || { echo "gpu_sanitizers.sh: no program of the list is called $program"; exit 1; }
done
running=0
most=$(nproc 2>/dev/null || echo 2)
export OMP_NUM_THREADS=2
for kind in memcheck racecheck initcheck synccheck; do
  while read -r program name tests; do
    case $programs in *" $program "* | "  ") ;; *) continue ;; esac
    if [ ! -x "$build/tests/$program" ]; then
      [ -e "$logs/$program.absent" ] || echo "$program: skipped, not built" | tee "$logs/$program.absent"
      continue
    fi
    if [ "$running" -ge "$most" ]; then wait -n || true; running=$((running - 1)); fi
    read -ra names <<<"$tests"
    one "$kind" "$program" "$name" "${names[@]}" &
    running=$((running + 1))
  done < <(jobs_of)
done
wait
cat "$logs"/*.line

# How often initcheck reports a program without fault, of one thread and of several: why jobs of several hosts are given
# blocking launches. A finding here is no failure.
control() {  # control THREADS RUNS
  local reported=0 i
  for i in $(seq 1 "$2"); do run "$logs/control-$1-$i.txt" "$tool" --tool initcheck "$logs/control" "$1" & done
  wait
  for i in $(seq 1 "$2"); do
    if grep -q '^========= Uninitialized' "$logs/control-$1-$i.txt"; then reported=$((reported + 1)); fi
  done
  echo "initcheck  control, $1 host threads: reported in $reported of $2 runs"
}
if nvcc -cudart static -arch=native -o "$logs/control" tests/initcheck_control.cu >"$logs/control.txt" 2>&1; then
  control 1 12
  control 8 24
else
  echo "control: skipped, not built"
fi

if grep -qE 'FOUND|FAILED' "$logs"/*.line; then exit 1; fi
exit 0
