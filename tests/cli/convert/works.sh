sapwood convert cube.ply -o cube.xyz && cat cube.xyz
