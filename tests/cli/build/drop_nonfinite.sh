# Ids of the tree stay rows of the file.
printf '0 0 0\nnan 0 0\n1 0 0\n3 0 0\n0 -inf 0\n3 0 0\n' > holes.xyz
sapwood build holes.xyz -o holes.sap --drop-nonfinite --drop-duplicates --json
sapwood info holes.sap
sapwood verify holes.sap
sapwood nearest holes.sap five.xyz
sapwood nearest holes.sap --json
sapwood nearest holes.sap
sapwood radius holes.sap -r 2 --count --with-self
sapwood build nan.xyz -o nan.sap -q --drop-nonfinite --triangles
