sapwood build five.xyz -q -o t.sap
sapwood distance queries.xyz t.sap
