# 0.1 of the queries is the double that 0.1 of the points is.
echo 0.1 0.2 > t.xyz && sapwood radius t.xyz t.xyz -r 0 --precision float64
sapwood convert t.xyz --precision float64 -q -o t.npy && sapwood nearest t.npy t.xyz --distances - --format xyz -q
