awk '!/#/ { print $1 + 0.125, $2 - 0.25, $3 + 0.5 }' five.xyz > moved.xyz
sapwood assemble five.xyz moved.xyz --json -o '{n}.xyz' | grep -v simd
cat 1.xyz
