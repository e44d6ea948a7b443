sapwood nearest five.xyz --period 3,-1,0
