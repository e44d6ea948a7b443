sapwood nearest five.xyz -k 2 --box 1,1,1,0,0,0
