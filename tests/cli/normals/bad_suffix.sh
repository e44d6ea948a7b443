sapwood normals cube.ply -k 4 -o n.obj
