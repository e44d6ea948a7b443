sapwood relax five.xyz --more 41
