sapwood relax five.xyz --steps 1 -o r.ply; show r.ply; head -c 300 r.ply | grep -a property
