sapwood normals cube.ply -k 4 --view 9,9,9
