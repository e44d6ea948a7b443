sapwood align five.xyz five.xyz --overlap 0.5 --find-overlap
