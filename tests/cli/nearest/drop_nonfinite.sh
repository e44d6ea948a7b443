# Ids stay rows of the file; the rows of points that are left out are empty.
printf '0 0 0\nnan 0 0\n1 0 0\n3 0 0\n0 -inf 0\n7 0 0\n' > holes.xyz
printf '6 0 0\nnan 0 0\n2.1 0 0\n' > q.xyz
sapwood nearest holes.xyz q.xyz
for options in '' --with-self '-k 2 --split sliding-midpoint' '--precision float64'; do
  echo "$options"
  sapwood nearest holes.xyz --drop-nonfinite $options -q --verify
done
sapwood nearest holes.xyz q.xyz --drop-nonfinite -k 2 --distances d.csv -o ids.csv && cat ids.csv d.csv
sapwood nearest holes.xyz --drop-nonfinite --distances d.csv && cat d.csv
sapwood build five.xyz -o five.sap -q
sapwood nearest five.sap q.xyz --drop-nonfinite
