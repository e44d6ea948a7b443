# A point at 0 does not ruin those that lie far from it, and of clouds in two places one is told of.
lattice 3 | awk '{ printf "%.3f %.3f %.3f\n", 481234.37 + $1 / 100, 5431234.37 + $2 / 100, 101 }' | sort -u > far.xyz
(cat far.xyz; echo 0 0 0) > both.xyz
sapwood relax far.xyz --steps 2 -k 6 -o a.xyz -q
sapwood relax both.xyz --steps 2 -k 6 -o b.xyz -q
paste a.xyz b.xyz | head -n 9 | awk '{ for (i = 1; i < 4; i++) { d = $i - $(i + 3); if (d < 0) d = -d; if (d > 0.002) print } } END { print NR }'
lattice 3 | awk '{ printf "%.3f %.3f %.3f\n", $1 / 100, $2 / 100, $3 / 100 }' | head -n 5 > near.xyz
cat far.xyz near.xyz > both.xyz
sapwood relax both.xyz --steps 1 -o c.xyz
