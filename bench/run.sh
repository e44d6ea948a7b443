#!/usr/bin/env bash
# Builds the benchmark and runs it, with scipy and gnuplot where they are; installs nothing.
#   bench/run.sh [--build FOLDER] [options of sapwood_bench]              default folder: build/release
#   bench/run.sh rays [--build FOLDER] [options of sapwood_rays_bench]    rays, beside Embree
#   bench/run.sh ranks [--build FOLDER] [options of sapwood_ranks_bench]  one tree over ranks, beside one without; threads, then MPI
#   bench/run.sh pyramids [--build FOLDER] [options of sapwood_pyramids_bench]    compaction on OpenGL ES
#   bench/run.sh gl [--build FOLDER] [options of sapwood_gl_bench]        pictures in shaders of OpenGL ES
#   bench/run.sh gl-walks [--build FOLDER] [options of sapwood_gl_walks_bench]    the ways of that search beside each other
#   bench/run.sh gl-rays [--build FOLDER] [options of sapwood_gl_rays_bench]    rays through meshes in shaders
#   bench/run.sh gl-surfaces [--build FOLDER] [options of sapwood_gl_surfaces_bench]    surfaces of volumes in shaders
#   bench/run.sh gl-compact [--build FOLDER] [options of sapwood_gl_compact_bench]    compaction in shaders, in every form
#   bench/run.sh scale [--build FOLDER] [--library RANKS] [--replay RANKS]    what thousands of simulated ranks send
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
build=$top/build/release
out=$top/build/bench
size=()
arguments=()
target=sapwood_bench
if [ "${1-}" = rays ]; then
    target=sapwood_rays_bench
    shift
elif [ "${1-}" = ranks ]; then
    target=sapwood_ranks_bench
    shift
elif [ "${1-}" = pyramids ]; then
    target=sapwood_pyramids_bench
    shift
elif [ "${1-}" = gl ]; then
    target=sapwood_gl_bench
    shift
elif [ "${1-}" = gl-walks ]; then
    target=sapwood_gl_walks_bench
    shift
elif [ "${1-}" = gl-surfaces ]; then
    target=sapwood_gl_surfaces_bench
    shift
elif [ "${1-}" = gl-compact ]; then
    target=sapwood_gl_compact_bench
    shift
elif [ "${1-}" = gl-rays ]; then
    target=sapwood_gl_rays_bench
    shift
elif [ "${1-}" = scale ]; then
    target=sapwood_scale_bench
    shift
fi
while [ $# -gt 0 ]; do
    case $1 in
    --build) build=${2:?--build needs a folder}; shift ;;
    --out) out=${2:?--out needs a folder}; shift ;;
    --quick) size=(--quick); arguments+=("$1") ;;
    *) arguments+=("$1") ;;
    esac
    shift
done
program=$build/bench/$target
mkdir -p "$out"
build_it() {
    if [ ! -f "$build/CMakeCache.txt" ]; then
        generator=()
        if command -v ninja >/dev/null; then generator=(-G Ninja); fi
        cmake -S "$top" -B "$build" -DCMAKE_BUILD_TYPE=Release "${generator[@]}"
    else
        # Rivals may have been installed since.
        cmake "$build"
    fi && cmake --build "$build" --target "$target" -j "$(nproc)"
}
build_it >"$out/build.txt" 2>&1 || { tail -n 40 "$out/build.txt" >&2; exit 1; }
case " ${arguments[*]-} " in *" --help "* | *" -h "*) exec "$program" --help ;; esac

if [ "$target" = sapwood_rays_bench ]; then
    mkdir -p "$out/rays"
    exec "$program" --out "$out/rays" "${arguments[@]}"
fi
if [ "$target" = sapwood_pyramids_bench ]; then
    mkdir -p "$out/pyramids"
    exec "$program" --out "$out/pyramids" "${arguments[@]}"
fi

if [ "$target" = sapwood_ranks_bench ]; then
    "$program" "${arguments[@]}"
    echo
    exec "$top/bench/ranks_mpi.sh" "$build" "${arguments[@]}"
fi
case $target in sapwood_gl_rays_bench | sapwood_gl_walks_bench | sapwood_scale_bench | sapwood_gl_surfaces_bench | sapwood_gl_compact_bench) exec "$program" "${arguments[@]}" ;; esac
if [ "$target" = sapwood_gl_bench ]; then exec "$program" --csv "$out/gl.csv" "${arguments[@]}"; fi

# Debian's modules are seen by Debian's interpreter only.
python=
for candidate in /usr/bin/python3 python3; do
    if "$candidate" -c 'import scipy.spatial, numpy' 2>/dev/null; then python=$candidate; break; fi
done
scipy=()
beside=yes
for argument in "${arguments[@]-}"; do case $argument in --only*) beside=no ;; esac; done
if [ -z "$python" ]; then
    echo "scipy: not found, its column stays empty"
elif [ $beside = no ]; then
    echo "scipy: skipped with --only"
else
    clouds=$(mktemp -d)
    trap 'rm -rf "$clouds"' EXIT
    "$program" "${size[@]}" --export "$clouds"
    OMP_NUM_THREADS=1 "$python" "$top/bench/rivals/scipy_times.py" "$clouds" "$out/scipy.csv"
    scipy=(--scipy "$out/scipy.csv")
fi

status=0
"$program" --out "$out" "${scipy[@]}" "${arguments[@]}" || status=$?
if command -v gnuplot >/dev/null && [ -s "$out/ratios.csv" ] && [ "$(wc -l <"$out/rates.csv")" -gt 1 ]; then
    gnuplot -e "folder='$out'" "$top/bench/plot.gp" && echo "drew $out/ratios.png and $out/rates.png"
else
    echo "plots: skipped (gnuplot is not installed, or no row stands beside nanoflann)"
fi
exit $status
