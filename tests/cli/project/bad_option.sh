sapwood project five.xyz --push 0.6
