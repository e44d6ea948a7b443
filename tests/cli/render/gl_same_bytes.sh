# Where there is OpenGL ES: the CPU's picture.
for device in gl cpu; do
  sapwood render quad.obj -o $device.ppm --size 40x30 --samples 5 --device $device --quiet 2> why || exit 77
  sapwood render faces.ply -o heat-$device.ppm --size 40x30 --samples 5 --heat --device $device --quiet || exit
done
cmp cpu.ppm gl.ppm && cmp heat-cpu.ppm heat-gl.ppm
