sapwood project flat.xyz
