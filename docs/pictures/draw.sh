#!/usr/bin/env bash
# Draws the pictures of this folder anew: draw.sh [BUILD], where BUILD (default build/release) holds a build with
# libpng. surface.png and those of align are drawn only where examples/fetch_volume.sh and fetch_scan.sh reach Debian's archive. They are the same on every machine, but for heat.png, which shows the tree.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
built=$(cd "${1:-$here/../../build/release}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$built/examples/scene" "$work/scene.obj"
view=(--size 520x325 --eye 3.2,2.6,6.4 --at 0,0.75,0.2 --fov 38)
"$built/sapwood" render "$work/scene.obj" "${view[@]}" --samples 100 --exposure 0.85 -o "$here/scene.png"
"$built/sapwood" render "$work/scene.obj" "${view[@]}" --samples 16 --heat -o "$here/heat.png"
# The pictures of an orbit as one that moves, where python3-pil is there.
"$built/sapwood" render "$work/scene.obj" "${view[@]}" --size 400x250 --samples 36 --exposure 0.85 --orbit 24 -o "$work/orbit.png"
python3 - "$work" "$here/orbit.webp" <<'PYTHON' || echo "orbit.webp is as it was: python3-pil is missing"
import sys
from PIL import Image
pictures = [Image.open(f"{sys.argv[1]}/orbit-{i:03}.png").convert("RGB") for i in range(24)]
pictures[0].save(sys.argv[2], save_all=True, append_images=pictures[1:], duration=83, loop=0, quality=55, method=6)
PYTHON
# A lamp behind: mirrors and glass throw its light.
"$built/sapwood" render "$work/scene.obj" "${view[@]}" --samples 25 --exposure 0.7 --light 4,8,-1,6,5.5,5 --ambient 0.2 \
    --photons 100000 --caustics 1500000 --neighbors 60 -o "$here/caustic.png"
if "$here/../../examples/fetch_volume.sh" "$work/brain.nii"; then
    "$built/sapwood" isosurface "$work/brain.nii" --skip 352 --size 181,217,181 --type u8 --level 70.5 \
        --render "$here/surface.png" --picture-size 520x325 --samples 36 --eye 330,430,250 --fov 21 --exposure 0.55
fi
# The first and the last of 60 pictures of points that relax.
"$built/examples/film" 12000 60 "$work/relax" >/dev/null
cp "$work/relax-000.png" "$here/relax-before.png"
cp "$work/relax-059.png" "$here/relax-after.png"
# Two parts of a scan that have the middle in common, but no point: the right one is turned and moved.
if "$here/../../examples/fetch_scan.sh" "$built/examples/scan_surface" "$work/head.npy"; then
    "$built/sapwood" convert "$work/head.npy" -o "$work/head.xyz" -q
    awk 'NR % 2 == 0 && $1 < 160 { print $1, $2, $3 }' "$work/head.xyz" >"$work/left.xyz"
    awk 'NR % 2 && $1 > 85 {
        x = cos(2.2) * $1 - sin(2.2) * $2; y = sin(2.2) * $1 + cos(2.2) * $2
        print cos(0.7) * x - sin(0.7) * $3 + 420, y - 60, sin(0.7) * x + cos(0.7) * $3 }' "$work/head.xyz" >"$work/right.xyz"
    "$built/sapwood" align "$work/right.xyz" "$work/left.xyz" --global --method plane -o "$work/moved.xyz"
    for part in right moved; do
        awk -v other="$work/$part.xyz" 'BEGIN { print "x,y,z,kind" }
            !/^#/ { print $1 "," $2 "," $3 "," (FILENAME == other) }' "$work/left.xyz" "$work/$part.xyz" >"$work/$part.csv"
    done
    "$built/sapwood" picture "$work/right.csv" --color kind --size 400x325 --eye 260,820,330 --fov 28 -o "$here/align-before.png"
    "$built/sapwood" picture "$work/moved.csv" --color kind --size 400x325 --eye -220,620,260 --fov 28 -o "$here/align-after.png"
fi
# Sites as the seeds of a sunflower lie.
awk 'BEGIN { for (i = 1; i <= 1200; i++) { r = sqrt(i); a = i * 2.399963; print 1.6 * r * cos(a), r * sin(a) } }' >"$work/seeds.xyz"
"$built/sapwood" voronoi "$work/seeds.xyz" --size 520x325 -o "$here/voronoi.png"
