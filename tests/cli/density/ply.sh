sapwood density five.xyz -r 3 -o n.ply; show n.ply; head -c 400 n.ply | grep -a property
