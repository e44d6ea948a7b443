closed_pipe sapwood relax five.xyz
