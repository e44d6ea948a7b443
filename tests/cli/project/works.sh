land 0 1 3 > land.xyz
sapwood project land.xyz --count 5 --radius 0.2
