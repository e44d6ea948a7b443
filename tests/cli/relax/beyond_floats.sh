printf '0 0 0\n1 0 0\n0 1 0\n1 1 1e39\n' > points.xyz
sapwood relax points.xyz
