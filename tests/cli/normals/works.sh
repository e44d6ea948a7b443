sapwood normals cube.ply -k 4
