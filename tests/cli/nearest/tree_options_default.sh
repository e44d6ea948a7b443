sapwood build five.xyz -q -o five.sap && sapwood nearest five.sap --split median; echo $?
sapwood nearest five.sap --precision float32; echo $?
