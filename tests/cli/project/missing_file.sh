sapwood project absent.xyz
