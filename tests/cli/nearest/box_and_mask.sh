# What the mask leaves out is not found in the box either; a float that the corner rounds to lies in it.
printf "1\n0\n1\n1\n1\n" > mask.csv && sapwood nearest five.xyz -k 3 --mask mask.csv --box -inf,0,0,1,2,3
printf "0.1 0\n0.3 0\n0.5 0\n" > row.xyz && sapwood nearest row.xyz --precision float32 --box 0.1,0,0.3,0
