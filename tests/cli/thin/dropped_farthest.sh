sapwood thin nan.xyz --farthest 4 --drop-nonfinite
