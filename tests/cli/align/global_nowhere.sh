sapwood align five.xyz five.xyz --global
