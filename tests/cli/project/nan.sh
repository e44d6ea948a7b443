sapwood project nan.xyz
