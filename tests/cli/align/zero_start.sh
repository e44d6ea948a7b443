printf '0 0 0 0\n0 0 0 0\n0 0 0 0\n0 0 0 0\n' > start.txt
sapwood align five.xyz five.xyz --start start.txt
