sapwood render faces.ply -o - --size 3x2 -q | head -c 11
