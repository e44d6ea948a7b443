sapwood render quad.obj -o a.ppm --size 8x5 --samples 1 --heat -q
