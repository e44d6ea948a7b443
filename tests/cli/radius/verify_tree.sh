sapwood build five.xyz -q -o five.sap && sapwood radius five.sap -r 1 --verify
