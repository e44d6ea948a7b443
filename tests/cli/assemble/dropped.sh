(awk '!/#/ { print $1 + 0.125, $2, $3 }' five.xyz; echo 0 nan 0) > moved.xyz
sapwood assemble five.xyz moved.xyz --drop-nonfinite -o '{n}.csv' && cat 1.csv
