sapwood picture cube.ply -o a.ppm --json -q
