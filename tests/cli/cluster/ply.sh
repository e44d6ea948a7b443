sapwood cluster five.xyz -r 2 -o n.ply; show n.ply; head -c 400 n.ply | grep -a property
