lattice 20 > l.xyz
for n in 1 2 3; do sapwood build l.xyz -q --threads $n -o $n.sap || exit; done
cmp 1.sap 2.sap && cmp 1.sap 3.sap
