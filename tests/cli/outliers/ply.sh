sapwood outliers five.xyz -k 2 --ratio 1 -o n.ply; show n.ply; head -c 400 n.ply | grep -a property
