sapwood project - --count 2 --radius 3 --steps 1 < five.xyz
