lattice 5 | awk '{ print $1, $2, $3 * $3 / 8 + $1 * $2 / 32 }' > target.xyz
awk '{ print $1 + 0.0625, $2, $3 - 0.125 }' target.xyz > moved.xyz
sapwood align moved.xyz target.xyz --method generalised --find-overlap --json --transform t.txt | grep -E 'converged|pairs|undetermined'
