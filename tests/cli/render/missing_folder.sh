sapwood render quad.obj -o none/a.ppm --size 4x4
