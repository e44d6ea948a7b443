# The radius that is chosen is told, wherever the points go.
land 0 1 3 > land.xyz
sapwood project land.xyz --count 2
sapwood project land.xyz --count 2 -o p.xyz
sapwood project land.xyz --count 2 -q
