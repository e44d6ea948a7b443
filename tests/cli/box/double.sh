printf "5431234.5 1\n5431234.6 2\n5431234.7 3\n" > utm.xyz
printf "5431234.6 0 5431234.6 9\n" > boxes.xyz
sapwood box utm.xyz boxes.xyz && sapwood box utm.xyz --lower 5431234.6,0 --upper 5431234.6,9
