sapwood build twice.csv --drop-duplicates -q -o t.sap && sapwood radius t.sap -r 1 --with-self --count && sapwood radius t.sap -r 1 --with-self
