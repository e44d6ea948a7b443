sapwood build five.xyz -q -o t.sap
sapwood outliers t.sap -k 2 --ratio 1
