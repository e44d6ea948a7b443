sapwood render quad.obj -q -o one.ppm --size 70x70 --threads 1 --simd portable && sapwood render quad.obj -q -o two.ppm --size 70x70 --threads 2 --quality fast && cmp one.ppm two.ppm
