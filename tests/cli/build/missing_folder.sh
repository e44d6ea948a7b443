sapwood build five.xyz -o no/five.sap
