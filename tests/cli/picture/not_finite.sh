printf "1 2 3\nnan 0 0\n4 5 6\n" > n.xyz; sapwood picture n.xyz -o a.ppm --size 64x48; cksum < a.ppm
