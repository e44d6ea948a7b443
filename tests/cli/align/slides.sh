# A plane slides on itself, which planes' distances cannot tell. Who does not ask for a start has one: it is no failure.
lattice 5 | awk '{ print $1, $2, 2 }' > target.xyz
awk '{ print $1 + 0.0625, $2, $3 - 0.125 }' target.xyz > moved.xyz
sapwood align moved.xyz target.xyz --method plane --json --transform t.txt | grep -E 'determined'
awk '{ printf "%.3f %.3f %.3f %.3f\n", $1, $2, $3, $4 }' t.txt | sed 's/-0\.000/0.000/g'
