sapwood convert five.xyz -o five.las
