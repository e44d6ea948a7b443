sapwood convert five.xyz --precision float64 -q -o five.npy && sapwood info five.npy | grep precision
