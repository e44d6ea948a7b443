sapwood align nan.xyz five.xyz
