# Ids stay rows of the file; what is dropped is in no pair.
printf '0 0 0\nnan 0 0\n0 0 0\n1 0 0\n' > p.xyz
sapwood pairs p.xyz -r 1 --drop-nonfinite
echo and without duplicates
sapwood pairs p.xyz -r 1 --drop-nonfinite --drop-duplicates
sapwood pairs p.xyz -r 1
