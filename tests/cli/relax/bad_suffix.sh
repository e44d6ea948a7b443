sapwood relax five.xyz -o r.obj
