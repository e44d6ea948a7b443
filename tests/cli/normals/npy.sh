sapwood normals cube.ply -k 4 -o n.npy && show n.npy
