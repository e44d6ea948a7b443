lattice 9 > l.xyz
for n in 1 2 7; do sapwood picture l.xyz -o $n.ppm --size 160x100 --threads $n -q; done
cmp 1.ppm 2.ppm && cmp 1.ppm 7.ppm
