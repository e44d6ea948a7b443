sapwood build five.xyz -q -o t.sap
sapwood thin t.sap -s 1.5
