sapwood align five.xyz five.xyz --scale 1
