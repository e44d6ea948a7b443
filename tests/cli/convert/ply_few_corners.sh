sapwood convert few_corners.ply -o all.ply
