# Two parts of a land side by side, which have nothing in common.
land 0.6 1 11 > target.xyz
land 0 0.4 12 > moved.xyz
sapwood align moved.xyz target.xyz --method plane --find-overlap --transform t.txt 2>&1 | grep -o 'no more than three tenths'
