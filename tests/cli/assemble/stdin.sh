awk '!/#/ { print $1 + 0.125, $2 - 0.25, $3 + 0.5 }' five.xyz | sapwood assemble five.xyz - -o '{}.csv' -q && cat stdin.csv
