sapwood normals cube.ply -k 4 --orient consistent
