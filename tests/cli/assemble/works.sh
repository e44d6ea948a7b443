# Three parts of a land, each a little beside its place; the first one stays. Colours and normals are kept, and turn.
land 0 0.6 11 > a.xyz
land 0.2 0.8 12 | awk '{ print $1 + 0.01, $2 - 0.01, $3 + 0.005 }' > b.xyz
land 0.4 1 13 | awk 'BEGIN { print "x,y,z,label,nx,ny,nz" } { printf "%.4f,%.4f,%.4f,%d,1,0,0\n", $1 - 0.01, $2 + 0.01, $3, NR }' > c.csv
mkdir moved
sapwood assemble a.xyz b.xyz c.csv --method plane --find-overlap -o 'moved/{}-{n}.csv' --transform t.txt
awk '{ printf "%.2f %.2f %.2f %.2f\n", $1, $2, $3, $4 }' t.txt | sed 's/-0\.00/0.00/g'
ls moved
tail -n +2 moved/a-0.csv | awk -F, '{ print $1 + 0, $2 + 0, $3 + 0 }' > a.txt && awk '{ print $1 + 0, $2 + 0, $3 + 0 }' a.xyz | cmp - a.txt
head -n 1 moved/c-2.csv
sed -n 3p moved/c-2.csv | awk -F, '{ printf "%.2f %.2f %.2f %d %.1f\n", $1, $2, $3, $4, $5 }'
sapwood assemble a.xyz b.xyz c.csv --method plane --find-overlap --threads 1 --transform one.txt && cmp t.txt one.txt
# From where they have come nothing moves any more.
sapwood assemble a.xyz b.xyz c.csv --method plane --find-overlap --start t.txt | awk '{ printf "%.2f %.2f %.2f %.2f\n", $1, $2, $3, $4 }' | sed 's/-0\.00/0.00/g'
