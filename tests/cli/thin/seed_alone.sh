printf '0 0 0\n1 0 0\n' > points.xyz
sapwood thin points.xyz --farthest 1 --seed 3
