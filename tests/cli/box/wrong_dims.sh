sapwood box five.xyz --lower 0,0 --upper 1,1
