sapwood convert strips.ply -o strips.obj && grep f strips.obj
