sapwood build five.xyz -o five.sap --leaf-size 5000
