sapwood normals cube.ply -k 4 -o n.ply; show n.ply; head -c 400 n.ply | grep -a property
