sapwood build five.xyz -q -o five.sap && sapwood convert five.sap
