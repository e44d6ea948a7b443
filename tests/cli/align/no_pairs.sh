awk '!/#/ { print $1 + 100, $2, $3 }' five.xyz > moved.xyz
sapwood align moved.xyz five.xyz --max-distance 1
