sapwood picture cube.ply -o a.png --point-size 0
