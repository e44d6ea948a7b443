sapwood build five.xyz -q -o t.sap
sapwood distance t.sap queries.xyz
