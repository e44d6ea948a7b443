printf '0 0 0\nnan 0 0\n1 0 0\n3 0 0\n0 -inf 0\n7 0 0\n' > holes.xyz
sapwood convert holes.xyz --drop-nonfinite
printf 'nan 0\n' > none.xyz
sapwood convert none.xyz --drop-nonfinite
sapwood convert five.xyz --drop-nonfinite | tail -1
printf 'v 0 0 0\n' > mesh.obj
sapwood convert mesh.obj -o mesh.off --drop-nonfinite
