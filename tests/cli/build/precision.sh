sapwood build five.xyz --precision float64 -q -o five.sap && sapwood info five.sap | grep precision
