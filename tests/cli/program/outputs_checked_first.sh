# An output that cannot be written is noticed before any input is read.
mkdir folder folder.ppm folder.npy
for command in 'build bad.xyz -o no/a.sap' 'build --triangles bad.xyz -o folder' 'nearest bad.xyz -o a.npy --distances no/b.npy' \
  'radius bad.xyz -r 1 -o a.npy --ids no/b.npy' 'radius bad.xyz -r 1 --distances folder --format npy' 'convert bad.xyz -o no/a.csv' \
  'render bad.xyz -o folder.ppm' 'render bad.xyz -o no/a.ppm --orbit 2' 'trace bad.xyz bad.xyz -o no/a.csv' \
  'isosurface bad.xyz --level 1 -o no/a.ply' 'isosurface bad.xyz --level 1 --render no/a.ppm' \
  'isosurface bad.xyz --level 1 -o a.ply --render no/a.ppm' 'compact bad.xyz --level 1 -o no/a.npy' \
  'compact bad.xyz --level 1 --picture no/a.ppm' 'voronoi bad.xyz -o no/a.ppm' 'voronoi bad.xyz -o a.ppm --ids no/a.npy' \
  'voronoi bad.xyz -o a.ppm --distances folder.npy' 'nearest bad.xyz -o five.xyz/a.npy'; do
  sapwood $command
  echo $?
done
ls -A | grep -e '^a' -e part
true
