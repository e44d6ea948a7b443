sapwood build five.xyz -q -o t.sap
sapwood density t.sap -r 3
