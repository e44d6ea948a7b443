# What would be listed is counted before; of a saved tree, too.
lattice 10 > l.xyz
sapwood build l.xyz -q -o l.sap
for file in l.xyz l.sap; do
  sapwood pairs $file -r 1 --limit 2699
  sapwood pairs $file -r 1 --limit 2700 | wc -l
  sapwood pairs $file -r 1 --full --limit 5399
  sapwood pairs $file -r inf --limit 499499 -o p.npy
done
sapwood pairs l.xyz -r 1 --limit 5 --count
