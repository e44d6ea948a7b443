printf '0 0 0\nnan 0 0\n1 0 0\n' > holes.xyz
sapwood bench holes.xyz --drop-nonfinite | mask_bench
