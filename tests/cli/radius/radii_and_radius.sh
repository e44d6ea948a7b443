sapwood radius five.xyz five.xyz -r 1 --radii five.xyz
