# Files as other programs write them (tests/samples): how many, how large, and their colours, which an OBJ shows.
cp "${1%/*}"/../../samples/* .
for file in meshlab.ply meshlab.obj cloudcompare.ply cloudcompare.asc blender.obj blender.ply pcl.pcd pcl.ply open3d.ply vtk.ply vtk.stl; do
  sapwood info $file | grep -v -e duplicates -e processor -e bytes
done
for file in meshlab.ply meshlab.obj open3d.ply vtk.ply; do sapwood convert $file -o colours.obj -q && grep -e '^v' -e '^f' colours.obj; done
sapwood convert blender.obj -o copy.obj -q && cat copy.obj copy.mtl
