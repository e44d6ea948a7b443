sapwood convert five.xyz --format bmp -o five.bmp
