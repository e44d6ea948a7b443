# Rows of 12 bytes, of doubles 16, after a header that names the fields.
for precision in float32 float64; do
  sapwood pairs five.xyz -r 3 --precision $precision -o p.npy
  head -c 128 p.npy | tail -c +11 | head -n 1
  wc -c < p.npy
done
sapwood pairs five.xyz -r 3 --count -o c.npy
show c.npy
