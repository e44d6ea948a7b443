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
