printf '1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n' > start.txt
sapwood align five.xyz five.xyz --global --start start.txt
