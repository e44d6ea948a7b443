closed_pipe sapwood align five.xyz five.xyz
