sapwood distance five.xyz queries.xyz -o d.ply; show d.ply; head -c 400 d.ply | grep -a property
