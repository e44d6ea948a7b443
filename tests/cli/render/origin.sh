# The picture of a mesh far from 0, with an origin, is that of the same mesh near 0.
for far in 0 4800000; do
  printf 'v %d.5 %d.25 0\nv %d.5 %d 1\nv %d %d.125 0.5\nf 1 2 3\n' $far $far $((far + 2)) $far $((far + 1)) $((far + 2)) > $far.obj
  eye=$((far + 1)),$((far + 1)),6 at=$((far + 1)),$((far + 1)),0
  sapwood render $far.obj -o $far.ppm -q --size 24x16 --samples 2 --origin $far,$far,0 --eye $eye --at $at \
    --light $((far + 3)),$far.3,4 || exit
done
cmp 0.ppm 4800000.ppm
