sapwood build five.xyz -q -o five.sap && head -c 100 five.sap > cut.sap && sapwood verify cut.sap --json
