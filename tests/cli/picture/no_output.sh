sapwood picture cube.ply
