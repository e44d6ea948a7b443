sapwood render faces.ply -o - --orbit 3
