sapwood render quad.obj -o a.ppm --size 24x16 --samples 4 && head -c 12 a.ppm
