sapwood project five.xyz -o five.xyz
