printf "1\n0\n1\n1\n0\n" > mask.csv && sapwood nearest five.xyz -k 3 --mask mask.csv
