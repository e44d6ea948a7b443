#!/usr/bin/env bash
# Runs the demo that was built over a real scan: demo.sh [--data FILE] [options of demo]
# Without --data the scan comes from a Debian package, once; where that cannot be reached, a scan is generated.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
built=$top/build/release/examples
folder=$top/build/demo
scan=$folder/skull.npy
mkdir -p "$folder"
picture=(--picture "$folder/demo.png")
# Says what runs; where that is a GPU, times it on FILE (or generated points). The demo itself checks and draws on the CPU.
running_on() { # running_on [FILE]
    local cli=$top/build/release/sapwood where
    [ -x "$cli" ] || return 0
    where=$("$cli" bench --points 1 --queries 1 -v 2>&1 >/dev/null | sed -n 's/^sapwood bench: device //p')
    echo "running on: $where"
    case $where in cuda*) "$cli" bench -k 16 "$@" && echo "and on the CPU, with a check and a picture:" ;; esac
}
# The second half: a mesh, drawn with shadows and mirrors.
draw_mesh() {
    local scene=$folder/scene.obj cli=$top/build/release/sapwood
    [ -x "$cli" ] && [ -x "$built/scene" ] || return 0
    echo
    echo "a mesh: a knot, balls of glass, mirror and clay, polished tiles"
    "$built/scene" "$scene"
    "$cli" render "$scene" -o "$folder/mesh.png" --size 640x400 --samples 9 --eye 3.2,2.6,6.4 --at 0,0.75,0.2 --fov 38 \
        --exposure 0.85 -v # says where: a GPU if there is one
    echo "picture, with shadows, mirrors and glass: $folder/mesh.png"
}
# The third: the surface of a volume, from a Debian package, or, where that cannot be reached, of one that is made up.
draw_volume() {
    local volume=$folder/brain.nii cli=$top/build/release/sapwood picture=$folder/surface.png
    [ -x "$cli" ] && [ -x "$built/surface" ] || return 0
    echo
    [ -s "$volume" ] || echo "fetching a volume (Debian package mricron-data, 16 MB)"
    if [ -s "$volume" ] || "$top/examples/fetch_volume.sh" "$volume"; then
        echo "a volume: MRI of a brain (Debian mricron-data, BSD; Colin 27, Montreal Neurological Institute)"
        "$cli" isosurface "$volume" --skip 352 --size 181,217,181 --type u8 --level 70.5 -o "$folder/brain.ply" \
            --render "$picture" --picture-size 640x400 --samples 9 --eye 330,430,250 --fov 21 --exposure 0.55
    else
        echo "no volume could be had: apt-get did not reach the package; a gyroid in a ball instead"
        "$built/surface" "$folder/surface.ply"
        "$cli" render "$folder/surface.ply" -o "$picture" --size 640x400 --samples 9 --up 0,0,1 --eye 2.2,3,1.8 --fov 30 \
            --exposure 0.6
    fi
    echo "picture of its surface: $picture"
}
# And cells: which of 100,000 sites is nearest to each pixel; in shaders of OpenGL ES where there is one.
draw_cells() {
    local cli=$top/build/release/sapwood sites=$folder/sites.xyz
    [ -x "$cli" ] || return 0
    echo
    echo "Voronoi cells of 100,000 sites that lie as the seeds of a sunflower do"
    awk 'BEGIN { for (i = 1; i <= 100000; i++) { r = sqrt(i); a = i * 2.39996323; printf "%.5f %.5f\n", 1.6 * r * cos(a), r * sin(a) } }' \
        >"$sites"
    local said
    if said=$("$cli" voronoi "$sites" -o "$folder/cells.png" --size 1280x800 --device gl -v 2>&1); then
        echo "$said"
    else
        echo "no OpenGL ES in this build or on this machine; on another processor:"
        "$cli" voronoi "$sites" -o "$folder/cells.png" --size 1280x800 -v
    fi
    echo "picture: $folder/cells.png"
}
# Runs the demo, then draws.
demo() {
    "$built/demo" "${picture[@]}" "$@"
    draw_mesh
    draw_volume
    draw_cells
    exit
}
given=
for argument in "$@"; do
    case $given$argument in
    --data | --generate) given=$argument= ;;
    --data=*) running_on "${argument#--data=}"; demo "$@" ;;
    --generate=*) running_on; demo "$@" ;;
    esac
done
if [ ! -s "$scan" ]; then
    echo "fetching a scan (Debian package invesalius-examples, 19 MB)"
    if ! "$top/examples/fetch_scan.sh" "$built/scan_surface" "$scan"; then
        echo "no real scan could be had: apt-get did not reach the package; going on with a generated scan"
        running_on
        demo --name "generated (yard, 8 scanner stops of 64 beams, 4 mm noise)" "$@"
    fi
fi
running_on "$scan"
demo --data "$scan" --view 195,8 \
    --name "CT of a head, surface of bone (Debian invesalius-examples, GPL-2)" "$@"
