# Those of brute force, in order, of points and of their saved tree, of floats and doubles.
awk 'BEGIN { for (i = 0; i < 150; i++) print i * 37 % 101, i * 53 % 97, i * 11 % 89 }' > p.xyz
awk '{ for (a = 1; a <= 3; a++) p[NR - 1, a] = $a } END { for (i = 0; i < NR; i++) for (j = 0; j < NR; j++) if (i != j) { d = 0; for (a = 1; a <= 3; a++) d += (p[i, a] - p[j, a]) ^ 2; if (d <= 400) print i, j, d } }' p.xyz > full.txt
awk '$1 < $2' full.txt > once.txt
for precision in float32 float64; do
  sapwood build p.xyz --precision $precision -qo p.sap
  for more in '' '--split sliding-midpoint'; do
    sapwood pairs p.xyz -r 20 --precision $precision $more | cmp - once.txt
    sapwood pairs p.xyz -r 20 --precision $precision $more --full | cmp - full.txt
  done
  sapwood pairs p.sap -r 20 | cmp - once.txt
  sapwood pairs p.sap -r 20 --full | cmp - full.txt
done
wc -l < once.txt
