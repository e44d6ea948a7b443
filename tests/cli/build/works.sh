sapwood build five.xyz -o five.sap && sapwood verify five.sap
