closed_pipe sapwood normals cube.ply -k 4
