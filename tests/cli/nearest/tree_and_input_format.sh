sapwood build five.xyz -q -o five.sap && cp queries.xyz queries.dat && sapwood nearest five.sap queries.dat --input-format xyz
