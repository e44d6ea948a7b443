sapwood build five.xyz -q -o five.sap --json > /dev/full
