# A box that reaches over the end of a period holds the points on the other side.
printf "0.5 0\n5 0\n9.5 0\n" > ring.xyz && sapwood nearest ring.xyz -k 2 --period 10,0 --box 9,-1,11,1
