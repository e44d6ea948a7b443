sapwood render -o a.ppm
