printf "0 0 0 1 1 1\n-1 -1 -1 9 9 9\n2 2 2 1 1 1\nnan 0 0 9 9 9\n-inf -inf 0 inf inf 0\n" > boxes.xyz
sapwood box five.xyz boxes.xyz
