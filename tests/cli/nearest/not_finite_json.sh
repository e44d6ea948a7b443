printf "1 2 3\nnan 1 1\n0 inf 0\n" > q.xyz
sapwood nearest five.xyz q.xyz --json -q
sapwood radius five.xyz q.xyz -r 1 --json -q | grep finite
sapwood radius five.xyz q.xyz -r 1 --count
sapwood build five.xyz -q -o five.sap
sapwood nearest five.sap q.xyz
sapwood nearest nan.xyz --drop-nonfinite --json -q | grep finite
