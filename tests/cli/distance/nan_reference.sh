sapwood distance nan.xyz five.xyz
