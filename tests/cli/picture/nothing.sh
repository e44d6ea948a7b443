printf "# x y z\n" > none.xyz; sapwood picture none.xyz -o a.ppm --size 8x6; cksum < a.ppm
