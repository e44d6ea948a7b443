sapwood normals - -k 4 < cube.ply
