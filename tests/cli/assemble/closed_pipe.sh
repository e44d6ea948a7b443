closed_pipe sapwood assemble five.xyz five.xyz
