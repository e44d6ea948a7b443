sapwood cluster nan.xyz -r 2 --drop-nonfinite
