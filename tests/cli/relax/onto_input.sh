sapwood relax five.xyz -o five.xyz
