# Where there is OpenGL ES: the CPU's hits, in a mesh and in a saved tree.
printf '0 0 5 0 0 -1\n0.2 0.1 5 0 0 -1\n9 9 5 0 0 -1\n' > rays.xyz
sapwood build cube.ply --triangles -o cube.sap --device cpu --quiet || exit
for device in gl cpu; do
  sapwood trace cube.ply rays.xyz -o $device.csv --device $device --quiet 2> why || exit 77
  sapwood trace cube.sap rays.xyz -o tree-$device.csv --device $device --quiet || exit
done
cmp cpu.csv gl.csv && cmp tree-cpu.csv tree-gl.csv
