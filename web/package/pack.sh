#!/usr/bin/env bash
# Makes the npm package's tarball: pack.sh BUILD, where BUILD is a build folder of the preset "web".
set -euo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")"
node build.mjs "$build/package" "$build/npm"
rm -f "$build"/sapwood-*.tgz
npm pack --silent --pack-destination "$build" "$build/npm" >"$build/tarball.txt"
tarball=$build/$(tail -n 1 "$build/tarball.txt")
printf '%-14s %s bytes\n' "$(basename "$tarball")" "$(stat -c %s "$tarball")"
