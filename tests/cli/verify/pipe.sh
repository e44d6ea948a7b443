sapwood build five.xyz -q -o five.sap && sapwood verify <(cat five.sap)
