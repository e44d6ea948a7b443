printf "0 0 0 1 1 1\n-1 -1 -1 9 9 9\n" > boxes.xyz
sapwood build five.xyz -o t.sap -q && sapwood box t.sap boxes.xyz > a && sapwood box five.xyz boxes.xyz --split sliding-midpoint > b && cmp a b
