printf '0.1 0.2 5\n' > q.xyz
sapwood closest cube.ply q.xyz -o q.xyz
