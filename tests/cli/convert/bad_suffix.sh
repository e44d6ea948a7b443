sapwood convert five.xyz -o five.bmp
