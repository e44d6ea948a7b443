#!/usr/bin/env bash
# A pass of photons beside pbrt-v3's SPPM, one thread of each: a ring of metal and a ball of glass in a room, 800 x 600.
# pbrt sends a million photons into one map, Sapwood half a million into each of its two; all photons within RADIUS (0.05)
# count. Quoted is the processor time of a whole run less that of a run with one photon, medians, the programs in turn.
#   bench/photons.sh BUILD_FOLDER PBRT [PASSES]
set -euo pipefail
export LC_ALL=C
[ $# -ge 2 ] || { echo "usage: $0 BUILD_FOLDER PBRT [PASSES]" >&2; exit 2; }
sapwood=$(realpath "$1/sapwood") pbrt=$(realpath "$2") passes=${3-7} radius=${RADIUS-0.05}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# The same triangles for both, each thing's numbered from 0: lines of v X Y Z and f A B C.
awk -v pi=3.141592653589793 'BEGIN {
  for (i = 0; i < 1500; i++) {
    turn = 2 * pi * i / 1500
    for (y = 0; y <= 1.5; y += 1.5) print "v", cos(turn), y, sin(turn) > "ring"
    at = 2 * i; next_at = 2 * ((i + 1) % 1500)
    print "f", at, next_at, at + 1 "\nf", next_at, next_at + 1, at + 1 > "ring"
  }
  for (i = 0; i <= 64; i++)
    for (j = 0; j < 128; j++)
      print "v", -2.2 + 0.8 * sin(pi * i / 64) * cos(2 * pi * j / 128), 1 + 0.8 * cos(pi * i / 64),
        0.8 * sin(pi * i / 64) * sin(2 * pi * j / 128) > "ball"
  for (i = 0; i < 64; i++)
    for (j = 0; j < 128; j++) {
      a = 128 * i + j; b = 128 * i + (j + 1) % 128
      print "f", a, b, a + 128 "\nf", b, b + 128, a + 128 > "ball"
    }
  for (i = 0; i < 8; i++) print "v", (i % 2 ? 4 : -4), (i % 4 >= 2 ? 6 : 0), (i >= 4 ? 4 : -4) > "room"
  split("0 1 4 1 5 4 2 6 3 3 6 7 0 2 1 1 2 3 0 4 2 2 4 6 1 3 5 3 7 5", corner, " ") # open where the camera is
  for (i = 1; i <= 30; i += 3) print "f", corner[i], corner[i + 1], corner[i + 2] > "room"
}'
cat >scene.mtl <<'MTL'
newmtl ring
Kd 0 0 0
Ks 0.9 0.8 0.5
illum 5
newmtl ball
Kd 0 0 0
d 0
Ni 1.5
illum 7
newmtl room
Kd 0.7 0.6 0.5
illum 2
MTL
echo "mtllib scene.mtl" >scene.obj
echo "Sampler \"random\" \"integer pixelsamples\" 1
Film \"image\" \"integer xresolution\" 800 \"integer yresolution\" 600 \"string filename\" \"pbrt.png\"
Scale -1 1 1
LookAt 0 3.5 9  0 1.2 0  0 1 0
Camera \"perspective\" \"float fov\" 40
Integrator \"sppm\" \"integer numiterations\" 1 \"integer maxdepth\" 16 \"float radius\" $radius \"integer photonsperiteration\" PHOTONS
WorldBegin
LightSource \"point\" \"point from\" [2.5 4.5 1] \"rgb I\" [20 20 20]" >scene.pbrt
first=1
for thing in ring ball room; do
  awk -v thing=$thing -v first=$first 'BEGIN { print "usemtl", thing }
    $1 == "v" { print }
    $1 == "f" { f = f "f " $2 + first " " $3 + first " " $4 + first "\n" } END { printf "%s", f }' $thing >>scene.obj
  first=$((first + $(grep -c ^v $thing)))
  case $thing in
    ring) echo 'Material "mirror" "rgb Kr" [0.9 0.8 0.5]' ;;
    ball) echo 'Material "glass" "float eta" 1.5' ;;
    room) echo 'Material "matte" "rgb Kd" [0.7 0.6 0.5]' ;;
  esac >>scene.pbrt
  awk '$1 == "v" { v = v " " $2 " " $3 " " $4 } $1 == "f" { f = f " " $2 " " $3 " " $4 }
    END { print "Shape \"trianglemesh\" \"integer indices\" [" f " ] \"point P\" [" v " ]" }' $thing >>scene.pbrt
done
echo WorldEnd >>scene.pbrt
for photons in 1 1000000; do sed "s/PHOTONS/$photons/" scene.pbrt >pbrt-$photons.pbrt; done

TIMEFORMAT=%U
run() { # run NAME COMMAND...: one line more of processor time
  local name=$1
  shift
  { time "$@" >said 2>&1; } 2>>"$name" || { cat said >&2; exit 1; }
}
pass() { # pass PHOTONS HALF
  run "pbrt-$1" "$pbrt" --nthreads=1 --quiet "pbrt-$1.pbrt"
  run "sapwood-$1" "$sapwood" render scene.obj -o sapwood.png --size 800x600 --eye 0,3.5,9 --at 0,1.2,0 --fov 40 --flat --light 2.5,4.5,1,1,1,1 \
    --ambient 0 --samples 1 --bounces 16 --photons "$2" --radius "$radius" --filter constant --device cpu --threads 1
}
for ((i = 0; i < passes; i++)); do
  pass 1 1
  pass 1000000 500000
done
[ -z "${PICTURES-}" ] || cp pbrt.png sapwood.png "$PICTURES" # the last ones, to see that both draw the same
median() { sort -n "$1" | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }
lscpu | sed -n 's/^Model name: */Machine: /p'
for program in sapwood pbrt; do echo "$program $(median $program-1) $(median $program-1000000)"; done |
  awk '{ rest[$1] = $2; photons[$1] = $3 - $2; printf "%-8s a million photons %.3f s, all else %.3f s\n", $1, $3 - $2, $2 }
    END { printf "photons: %.2f x; a whole pass: %.2f x\n", photons["pbrt"] / photons["sapwood"],
      (photons["pbrt"] + rest["pbrt"]) / (photons["sapwood"] + rest["sapwood"]) }'
