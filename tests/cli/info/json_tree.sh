sapwood build twice.csv -q --drop-duplicates --leaf-size 1 -o t.sap && sapwood info t.sap --json | sed -E 's/("bytes": )[0-9]+/\1N/'
