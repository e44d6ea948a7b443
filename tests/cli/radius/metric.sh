lattice 5 > l.xyz && awk '{ print NR % 4 }' l.xyz > mask.csv
for metric in l1 linf 3; do
  sapwood radius l.xyz queries.xyz -r 2 --metric $metric --weights 1,0.5,2 --mask mask.csv --verify --sorted -o o.npy
  sapwood radius l.xyz queries.xyz -r 2 --metric $metric --weights 1,0.5,2 --verify --count -o o.npy
done
