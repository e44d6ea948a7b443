sapwood relax five.xyz --steps 0
