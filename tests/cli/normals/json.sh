sapwood normals cube.ply -k 4 --json -o n.csv | grep -v simd
