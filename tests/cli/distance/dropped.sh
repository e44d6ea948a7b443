sapwood distance nan.xyz five.xyz --drop-nonfinite
