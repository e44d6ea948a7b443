sapwood picture cube.ply -o a.png --size 120x90
sapwood picture cube.ply -o a.ppm --size 120x90 -q
head -c 14 a.ppm | tr "\n" " "; echo; cksum < a.ppm
