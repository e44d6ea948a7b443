awk '!/#/ { print $1 + 0.125, $2 - 0.25, $3 + 0.5 }' five.xyz > moved.xyz
sapwood align moved.xyz five.xyz --json --transform t.txt | grep -v simd
