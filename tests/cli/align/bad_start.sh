printf '2 0 0 0\n0 2 0 0\n0 0 2 0\n0 0 0 1\n' > start.txt
sapwood align five.xyz five.xyz --start start.txt
