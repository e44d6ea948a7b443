sapwood build - -o five.sap < five.xyz && sapwood verify five.sap
