# A saved tree and its points give the same counts.
lattice 9 > l.xyz; sapwood build l.xyz -qo l.sap
for file in l.xyz l.sap; do sapwood correlate $file -r 0,1,2,3,4,30; done > a; sapwood correlate l.sap l.xyz -r 0,1,2,3,4,30 > b
head -n 6 a | cmp - b; tail -n 6 a | cmp - b; cat b
