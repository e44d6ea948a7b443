lattice 5 > l.xyz && awk '{ print ($1 + $2 + $3) % 3 != 0 }' l.xyz > mask.csv
for metric in l1 linf 3 2.5 inf l2; do
  sapwood nearest l.xyz queries.xyz -k 7 --metric $metric --weights 1,0.3,2 --mask mask.csv --verify -o ids.npy
done
sapwood nearest five.xyz queries.xyz -k 2 --metric l1 --distances - --format csv
