# Zeros have no sign, from whichever side a ray comes.
for ray in '0 0 1 0 0 -1' '0 0 -1 0 0 1' '1 0 1 0 0 -1' '0 1 -1 0 0 1' '0.5 0 1 0 0 -1' '0 0.5 1 0 0 -1' '-0 -0 0 0 0 1' '0 0 0 0 0 -1' \
  '0 0.5 0 0 1 0' '0 0 0 1 1 1'; do
  echo "$ray"
done > rays.xyz
for mesh in quad.obj cube.ply faces.ply; do sapwood trace $mesh rays.xyz; done | grep -c -e '-0\( \|$\)'
true
