printf "0 0 0\nnan 0 0\n1 0 0\n2 0 0\n" > p.xyz && printf "1\n1\n0\n1\n" > mask.csv
sapwood nearest p.xyz -k 2 -q --drop-nonfinite --mask mask.csv
