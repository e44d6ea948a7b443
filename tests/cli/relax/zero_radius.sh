sapwood relax five.xyz -r 0
