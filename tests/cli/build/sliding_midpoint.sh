lattice 5 > l.xyz
sapwood build l.xyz -q --split sliding-midpoint --axis cycle --leaf-size 4 -o l.sap && sapwood info l.sap | grep -E 'split|axis|leaf size'
sapwood nearest l.sap -k 3 -q > ids && sapwood nearest l.xyz -k 3 -q | cmp - ids
