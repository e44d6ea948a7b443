sapwood picture cube.ply -o a.jpg
