sapwood build five.xyz -q -o five.sap && sapwood bench five.xyz five.sap
