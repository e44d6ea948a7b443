awk '!/#/ { print $1 + 100, $2, $3 }' five.xyz > moved.xyz
sapwood assemble moved.xyz five.xyz --max-distance 1 -o '{n}.csv'
