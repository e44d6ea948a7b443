sapwood build five.xyz -q -o five.sap && sapwood build five.sap -o six.sap
