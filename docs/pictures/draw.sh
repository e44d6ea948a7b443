#!/usr/bin/env bash
# Draws the pictures of this folder anew: draw.sh [BUILD], where BUILD (default build/release) holds a build with
# libpng. They are the same on every machine, but for heat.png, which shows the tree.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
built=$(cd "${1:-$here/../../build/release}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$built/examples/scene" "$work/scene.obj"
view=(--size 520x325 --eye 3.2,2.6,6.4 --at 0,0.75,0.2 --fov 38)
"$built/sapwood" render "$work/scene.obj" "${view[@]}" --samples 100 --exposure 0.85 -o "$here/scene.png"
"$built/sapwood" render "$work/scene.obj" "${view[@]}" --samples 16 --heat -o "$here/heat.png"
"$built/sapwood" render "$work/scene.obj" "${view[@]}" --samples 25 --exposure 0.85 --orbit 8 -o "$work/orbit.png"
cp "$work/orbit-003.png" "$here/orbit.png"
