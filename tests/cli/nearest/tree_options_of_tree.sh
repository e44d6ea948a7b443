sapwood build five.xyz -q -o five.sap && sapwood nearest five.sap --drop-duplicates
