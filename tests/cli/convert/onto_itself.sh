sapwood convert five.xyz -o five.xyz
