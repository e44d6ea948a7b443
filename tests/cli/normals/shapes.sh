sapwood normals cube.ply -r 1.1 --shapes -o n.csv && cat n.csv
