sapwood build five.xyz -q -o t.sap
sapwood relax t.sap
