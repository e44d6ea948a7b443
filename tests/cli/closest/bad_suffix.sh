sapwood closest cube.ply queries.xyz -o answers.ply
