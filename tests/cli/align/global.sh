# Parts of a land that overlap by half, one of them turned over and moved far away.
land 0 0.7 11 > target.xyz
land 0.3 1 12 | awk '{ print 100 - $1, $2 - 50, 70 - $3 }' > moved.xyz
sapwood align moved.xyz target.xyz --global --method plane --iterations 5 --json --transform t.txt | grep -E 'converged|"start"'
awk '{ printf "%.1f %.1f %.1f %.0f\n", $1, $2, $3, $4 }' t.txt | sed 's/-0\.0/0.0/g; s/-0$/0/'
sapwood align moved.xyz target.xyz --global --method plane --iterations 5 --transform again.txt --threads 1 && cmp t.txt again.txt
