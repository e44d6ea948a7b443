sapwood convert five.xyz -q --json -o five.npy
