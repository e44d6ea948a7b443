sapwood build twice.csv --drop-duplicates -o t.sap && sapwood nearest t.sap -k 2 -q
