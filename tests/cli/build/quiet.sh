sapwood build five.xyz -o five.sap -q
