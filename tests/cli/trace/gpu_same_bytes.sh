# Where there is a GPU: the CPU's hits, in a mesh and in a saved tree.
sapwood --version | grep -q 'cuda:0' || exit 77
printf '0 0 5 0 0 -1\n0.2 0.1 5 0 0 -1\n9 9 5 0 0 -1\n' > rays.xyz
for device in cpu cuda; do
  sapwood build cube.ply --triangles -o $device.sap --device $device --quiet &&
    sapwood trace cube.ply rays.xyz -o $device.csv --device $device --quiet &&
    sapwood trace $device.sap rays.xyz -o tree-$device.csv --device $device --quiet &&
    sapwood info $device.sap --device $device | grep -v processor > $device.txt &&
    sapwood verify $device.sap --device $device > /dev/null || exit
done
sed -i s/cuda.sap/cpu.sap/ cuda.txt
cmp cpu.csv cuda.csv && cmp tree-cpu.csv tree-cuda.csv && cmp cpu.sap cuda.sap && cmp cpu.txt cuda.txt
