sapwood render faces.ply -o a.ppm --size 8x5 --samples 1 --orbit 2 --json
