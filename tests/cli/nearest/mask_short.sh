printf "1\n0\n" > mask.csv && sapwood nearest five.xyz --mask mask.csv
