# The parts lie anywhere; a fourth cloud has nothing to do with them.
[ "${SLOW-}" ] && exit 77
land 0 0.6 11 > a.xyz
land 0.2 0.8 12 | awk '{ print 100 - $1, $2 - 50, 70 - $3 }' > b.xyz
land 0.4 1 13 | awk '{ printf "%.4f %.4f %.4f\n", 5431234 + $2, 481234 - $1, $3 }' > c.xyz
lattice 12 > d.xyz
sapwood assemble a.xyz b.xyz c.xyz d.xyz --global --method plane --transform t.txt
awk 'NR % 4 { printf "%.1f %.1f %.1f\n", $1, $2, $3 }' t.txt | sed 's/-0\.0/0.0/g'
sapwood assemble c.xyz a.xyz --global --method plane --precision float64 -o '{n}.xyz' -q
# What came onto the far one is among its points.
sed -n 1p 1.xyz | awk '{ printf "%.0f %.0f\n", $1, $2 }'
