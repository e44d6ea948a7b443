printf '0 0 0\n1 0 0\n0 1 0.5\n1 1 0\n' > four.xyz
sapwood relax four.xyz --steps 1 --free
sapwood relax four.xyz --steps 1
