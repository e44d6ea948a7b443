printf '0 0 0\n1 0 0\nnan 0 0\n9 9 9\n' >some.xyz
sapwood cluster some.xyz -r 1.5 --least 2 --drop-nonfinite -o o.ply
