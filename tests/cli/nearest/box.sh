sapwood nearest five.xyz queries.xyz -k 3 --box 0,0,0,1,2,inf
