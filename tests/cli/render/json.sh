sapwood render quad.obj -o a.ppm --size 8x5 --samples 1 --bounces 0 --json -q
