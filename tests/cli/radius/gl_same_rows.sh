# Where there is OpenGL ES: the CPU's counts and rows, with either split rule and of a saved tree.
awk 'BEGIN { for (i = 0; i < 500; i++) print i * 37 % 101, i * 53 % 97, i * 11 % 89 }' > p.xyz
sapwood radius p.xyz queries.xyz -r 30 --count --device gl > gl.txt 2> why || exit 77
sapwood radius p.xyz queries.xyz -r 30 --count --device cpu | cmp - gl.txt
for split in median sliding-midpoint; do
  for order in "" --sorted; do
    for device in gl cpu; do
      sapwood radius p.xyz p.xyz -r 30 --split $split $order --device $device -o $device.npy --ids $device-ids.npy --distances $device-2.npy -q || exit 1
    done
    cmp gl.npy cpu.npy && cmp gl-ids.npy cpu-ids.npy && cmp gl-2.npy cpu-2.npy
  done
done
sapwood build p.xyz --split sliding-midpoint -q -o p.sap && sapwood radius p.sap queries.xyz -r 30 --device gl > gl.txt && sapwood radius p.sap queries.xyz -r 30 --device cpu | cmp - gl.txt
