#!/usr/bin/env bash
# What an outsider gets: installs a build to a folder of its own, builds examples/consumer against it through the CMake
# package and through pkg-config, runs both, and compares what the shared library exports with what the headers declare.
#   packaging/check.sh BUILD_FOLDER
set -euo pipefail

[ $# = 1 ] || { echo "usage: $0 BUILD_FOLDER" >&2; exit 2; }
build=$(cd "$1" && pwd)
top=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

quietly() {
  "$@" >"$work/log" 2>&1 || { cat "$work/log"; echo "failed: $*"; exit 1; }
}

quietly cmake --install "$build" --prefix "$prefix"
libdir=$(dirname "$(find "$prefix" -name 'libsapwood.so')")

echo "through CMake:"
quietly cmake -S "$top/examples/consumer" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release
quietly cmake --build "$work/cmake"
"$work/cmake/consumer"
"$work/cmake/consumer_static"

if command -v pkg-config >/dev/null && command -v make >/dev/null; then
  echo "through pkg-config:"
  quietly make -C "$top/examples/consumer" PKG_CONFIG_PATH="$libdir/pkgconfig" OUTPUT="$work/consumer"
  LD_LIBRARY_PATH=$libdir "$work/consumer"
else
  echo "through pkg-config: skipped, pkg-config or make is missing"
fi

if [ -x "$prefix/bin/sapwood" ]; then
  echo "the command, from where it was installed:"
  "$prefix/bin/sapwood" --version
fi

# ---- Ranks of MPI, where the build found one.

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_mpi_yield_when_idle=1 TMPDIR=$work
if [ -e "$libdir/libsapwood_mpi.so" ] && [ -x "$prefix/bin/sapwood" ]; then
  echo "ranks of MPI, through CMake and pkg-config, and the command:"
  launcher=$(sed -n 's/^MPIEXEC_EXECUTABLE:[A-Z]*=//p' "$build/CMakeCache.txt")
  compiler=$(sed -n 's/^MPI_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
  printf '%s\n' '0 0 0' '1 0 0' '3 0 0' '7 0 0' '15 0 0' >"$work/points.xyz"
  "$prefix/bin/sapwood" convert -q "$work/points.xyz" -o "$work/points.npy"
  # A program that is installed starts without MPI, and says what is missing when it is started by a launcher.
  OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 "$prefix/bin/sapwood" nearest --mpi never "$work/points.npy" -k 2 >"$work/alone"
  quietly "$launcher" -n 2 "$prefix/bin/sapwood" nearest "$work/points.npy" -k 2 -o "$work/ranks.xyz"
  diff "$work/alone" "$work/ranks.xyz" || { echo "failed: two ranks find other points than one process"; exit 1; }
  quietly "$launcher" -n 2 "$work/cmake/consumer_ranks" "$work/points.npy" 2 "$work/cmake.npy"
  if command -v pkg-config >/dev/null; then
    # shellcheck disable=SC2046
    quietly "$compiler" -std=c17 -o "$work/ranks" "$top/examples/mpi/ranks.c" \
      $(PKG_CONFIG_PATH=$libdir/pkgconfig pkg-config --cflags --libs sapwood_mpi)
    LD_LIBRARY_PATH=$libdir quietly "$launcher" -n 2 "$work/ranks" "$work/points.npy" 2 "$work/pc.npy"
    cmp "$work/cmake.npy" "$work/pc.npy"
  fi
  sed -nE 's/^SAP_API [^(]*[ *](sap_[a-z0-9_]+)\(.*/\1/p' "$prefix"/include/sapwood/mpi/*.h | sort >"$work/declared"
  nm -D --defined-only "$libdir/libsapwood_mpi.so" | awk '$2 != "A" { print $3 }' | sort >"$work/exported"
  diff "$work/declared" "$work/exported" || { echo "failed: libsapwood_mpi exports other names (>) than declared (<)"; exit 1; }
  rm "$libdir"/libsapwood_mpi.so*
  if OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 "$prefix/bin/sapwood" nearest "$work/points.npy" -k 2 2>"$work/log"; then
    echo "failed: ranks without libsapwood_mpi"
    exit 1
  fi
  grep -q 'MPI cannot be loaded: .*; with --mpi never' "$work/log" || { cat "$work/log"; exit 1; }
else
  echo "ranks of MPI: skipped, the build found none"
fi

sed -nE 's/^SAP_API [^(]*[ *](sap_[a-z0-9_]+)\(.*/\1/p' "$prefix"/include/sapwood/*.h | sort >"$work/declared"
nm -D --defined-only "$libdir/libsapwood.so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort >"$work/exported"
diff "$work/declared" "$work/exported" || { echo "failed: the headers (<) and the exported names (>) differ"; exit 1; }
echo "exports: the $(wc -l <"$work/declared") functions of the headers, nothing else"

if command -v c++ >/dev/null; then
  for header in "$prefix"/include/sapwood/*.h; do
    c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c++ "$header" 2>"$work/log" ||
      { grep -v 'pragma once' "$work/log"; exit 1; }
  done
  echo "headers: C++17 takes each of them alone"
fi
