sapwood picture nothing.ply -o a.ppm
