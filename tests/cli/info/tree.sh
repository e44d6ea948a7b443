sapwood build five.xyz -q -o five.sap && sapwood info five.sap | sed -E 's/^(bytes +)[0-9]+/\1N/'
