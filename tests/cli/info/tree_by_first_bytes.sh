sapwood build five.xyz -q -o five.sap && mv five.sap five.dat && sapwood info five.dat | head -3
