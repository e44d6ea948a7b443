sapwood project five.xyz -r 0
