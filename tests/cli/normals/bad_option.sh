sapwood normals cube.ply -k 0
