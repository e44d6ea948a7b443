lattice 4 > l.xyz
for f in x height cluster; do
  sapwood cluster l.xyz -r 1 -o l.ply -q && sapwood picture l.ply -o $f.ppm --size 64x48 --color $f -q && cksum < $f.ppm
done
