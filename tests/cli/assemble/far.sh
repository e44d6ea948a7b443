# Coordinates that floats cannot tell apart, each cloud of its own: the motions are those of the coordinates of the files.
land 0 0.6 11 | awk '{ printf "%.4f %.4f %.4f\n", $1 + 481234, $2 + 5431234, $3 }' > a.xyz
land 0.2 0.8 12 | awk '{ printf "%.4f %.4f %.4f\n", $1 + 481234.01, $2 + 5431233.99, $3 + 0.005 }' > b.xyz
sapwood assemble a.xyz b.xyz --method plane --find-overlap -o '{}.moved.xyz' --json | grep -E '"precision"|"kept"|"group'
awk '{ printf "%.4f %.4f %.4f\n", $1, $2, $3 }' a.moved.xyz | sed 's/-0\.0000/0.0000/' > a.txt && sed 's/-0\.0000/0.0000/' a.xyz | cmp - a.txt
paste b.xyz b.moved.xyz | awk '{ x += $4 - $1; y += $5 - $2; z += $6 - $3 } END { printf "%.2f %.2f %.3f\n", x / NR, y / NR, z / NR }'
