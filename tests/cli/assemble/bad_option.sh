sapwood assemble five.xyz five.xyz --origin auto
