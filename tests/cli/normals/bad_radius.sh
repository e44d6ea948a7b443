sapwood normals cube.ply -k 4 --radius -1
