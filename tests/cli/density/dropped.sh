sapwood density nan.xyz -r 3 --drop-nonfinite
