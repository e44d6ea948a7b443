sapwood render cube.ply -o a.ppm --size 4x4 -q && sapwood render five.xyz -o b.ppm
