sapwood thin five.xyz -s 1.5 -o n.ply; show n.ply; head -c 400 n.ply | grep -a property
