printf '0 0 0\n1 0 0\n1.5 0 0\n4 0 0\n' > line.xyz
sapwood relax line.xyz --steps 1
