sapwood project nan.xyz --drop-nonfinite
