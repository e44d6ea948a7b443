# Whatever is asked of it, a file that is not there cannot be read, and neither can a folder.
mkdir folder.sap
for path in no.sap folder.sap; do
  for verb in info verify bench 'build -o out.sap' nearest 'nearest five.xyz' 'nearest --verify' 'radius -r 1' 'convert -o out.npy' \
    'convert -o out.obj' 'render -o out.ppm' 'trace quad.obj' voronoi\ -o\ out.ppm 'isosurface --level 1 -o out.ply' \
    'compact --level 1 -o out.npy' 'build --triangles -o out.sap'; do
    sapwood $verb $path
    echo $? $verb
  done
  sapwood trace $path five.xyz
  echo $? trace
done
