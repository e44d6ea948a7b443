sapwood build five.xyz -o five.sap --split middle
