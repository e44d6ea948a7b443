closed_pipe sapwood picture cube.ply -o - --size 640x480
