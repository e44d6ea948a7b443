sapwood project five.xyz --count 6
