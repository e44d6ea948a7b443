sapwood relax nan.xyz --drop-nonfinite
