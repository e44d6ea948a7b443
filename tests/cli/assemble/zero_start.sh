printf '1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n0 0 0 0\n0 0 0 0\n0 0 0 0\n0 0 0 0\n' > start.txt
sapwood assemble five.xyz five.xyz --start start.txt
