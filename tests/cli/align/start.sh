awk '!/#/ { print $1 + 100, $2, $3 }' five.xyz > moved.xyz
printf '1 0 0 -99.875\n0 1 0 0\n0 0 1 0\n0 0 0 1\n' > start.txt
sapwood align moved.xyz five.xyz --max-distance 1 --start start.txt
