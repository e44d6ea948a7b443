# array[z][y][x] of shape (1, 2, 3) and its transpose are one volume; read the other way round x and z change places.
npy() { printf '\223NUMPY\1\0v\0'; printf '%-117s\n' "{'descr': '|u1', 'fortran_order': $1, 'shape': $2, }"; printf "$3"; }
npy False '(2, 2, 3)' '\0\0\0\0\0\0\1\0\0\0\0\0' > c.npy
npy True '(2, 2, 3)' '\0\1\0\0\0\0\0\0\0\0\0\0' > fortran.npy
for file in c.npy fortran.npy; do
  sapwood isosurface $file --level 0.5 -o $file.xyz.off --quiet && sapwood info $file.xyz.off
  sapwood isosurface $file --order xyz --level 0.5 -o $file.off --quiet && sapwood info $file.off
done
sapwood isosurface c.npy --order yxz --level 0.5 -o c.off
