printf '0 0 0\nnan 0 0\n1 0 0\n3 0 0\n0 -inf 0\n7 0 0\n' > holes.xyz
printf '6 0 0\nnan 0 0\n2.1 0 0\n' > q.xyz
sapwood radius holes.xyz -r 2
for options in '' --with-self --pairs --sorted --count '--count --with-self' --drop-duplicates; do
  echo "$options"
  sapwood radius holes.xyz -r 2 --drop-nonfinite $options -q --verify
done
sapwood radius holes.xyz q.xyz -r 2 --drop-nonfinite -o o.csv --ids ids.csv --distances d.csv && cat o.csv ids.csv d.csv
sapwood radius holes.xyz -r 2 --drop-nonfinite -o o.csv --ids ids.csv --distances d.csv && cat o.csv ids.csv d.csv
