# Text becomes a double without being a float on the way.
echo 0.1 0.2 > t.xyz && sapwood convert t.xyz --precision float64 -q -o t.npy && show t.npy && sapwood info t.npy | grep precision
