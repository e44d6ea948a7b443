sapwood convert cube.ply -o a.las -q; head -c 300 a.las > b.las; sapwood convert b.las
