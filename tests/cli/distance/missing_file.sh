sapwood distance absent.xyz five.xyz
