sapwood build five.xyz -q -o t.sap
sapwood project t.sap
