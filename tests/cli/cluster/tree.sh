sapwood build five.xyz -q -o t.sap
sapwood cluster t.sap -r 2
