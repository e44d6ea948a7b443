sapwood distance five.xyz nan.xyz --both --drop-nonfinite --json | grep -v simd
