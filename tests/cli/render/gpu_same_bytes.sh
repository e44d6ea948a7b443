# Where there is a GPU: the CPU's picture.
sapwood --version | grep -q 'cuda:0' || exit 77
cones_gltf > cones.gltf
for device in cpu cuda; do
  sapwood render cones.gltf -o cones-$device.ppm --size 40x30 --samples 5 --device $device --quiet || exit
  sapwood render quad.obj -o $device.ppm --size 40x30 --samples 5 --device $device --quiet &&
    sapwood render faces.ply -o heat-$device.ppm --size 40x30 --samples 5 --heat --device $device --quiet || exit
done
cmp cpu.ppm cuda.ppm && cmp cones-cpu.ppm cones-cuda.ppm && cmp heat-cpu.ppm heat-cuda.ppm
