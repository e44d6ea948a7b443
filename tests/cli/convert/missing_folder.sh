sapwood convert five.xyz -o no/five.npy
