# Photons light a picture; the same for any number of threads.
printf 'v 0 0 0\nv 2 0 0\nv 2 0 2\nv 0 0 2\nv 0 2 0\nv 2 2 0\nf 1 4 3 2\nf 1 2 6 5\n' > corner.obj
options="--size 24x16 --samples 2 --passes 2 -q" photons="--photons 2000 --caustics 1000 --gather --progressive -k 20 --radius 2 --filter cone --seed 3"
sapwood render corner.obj -o one.ppm $options $photons --threads 1 && sapwood render corner.obj -o two.ppm $options $photons --threads 2 &&
  cmp one.ppm two.ppm && wc -c < one.ppm
sapwood render corner.obj -o paths.ppm $options && cmp -s one.ppm paths.ppm || echo "not as by paths alone"
