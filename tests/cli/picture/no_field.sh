sapwood picture cube.ply -o a.png --color intensity
