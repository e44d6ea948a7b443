sapwood align five.xyz five.xyz --overlap 1.5
