# The MTL that comes with an OBJ must not take the place of the one that is read, however it is named.
before=$(cat quad.mtl)
mkdir folder && ln -s ../quad.mtl folder/link.mtl && ln quad.mtl hard.mtl
sed 's/quad.mtl/some quad.mtl/' quad.obj > several.obj
sed 's/quad.mtl/C:\\meshes\\quad.mtl/' quad.obj > foreign.obj
cp quad.obj in.obj
for command in 'in.obj -o quad.obj' 'in.obj -o folder/link.obj' 'in.obj -o hard.obj' 'several.obj -o quad.obj' \
  'foreign.obj -o quad.obj' 'in.obj -o quad --format obj' 'in.obj -o quad.mtl --format obj' 'in.obj -o quad.mtl --format csv' \
  'quad.mtl --input-format obj -o quad.obj'; do
  sapwood convert $command
  echo $?
done
sapwood convert - --input-format obj -o quad.obj < in.obj
echo $?
sapwood build --triangles in.obj -o quad.mtl
echo $?
sapwood trace in.obj in.obj --format csv -o quad.mtl
echo $?
[ "$before" = "$(cat quad.mtl)" ] && cmp quad.obj in.obj && sapwood convert -q in.obj -o out.obj && sapwood convert -q in.obj -o out.obj
