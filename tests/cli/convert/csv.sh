sapwood convert cube.ply -q -o cube.csv && head -3 cube.csv
