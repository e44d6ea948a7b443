lattice 6 > l.xyz && sapwood build l.xyz -q -o l.sap
for options in "" "--sorted" "--with-self" "--with-self --sorted" "--pairs --sorted" "--count" "--count --with-self"; do
  sapwood radius l.xyz -r 1.5 $options > a && sapwood radius l.sap -r 1.5 $options > b && cmp a b || exit
done
