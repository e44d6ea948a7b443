sapwood nearest five.xyz --weights 1,-1,1
