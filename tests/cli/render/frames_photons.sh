# Photons light pictures that move: each as it is when drawn alone, for any number of threads; their count, and what they took.
moving_gltf > walk.gltf
options="--size 16x8 --samples 1 --eye 1,1,5 --at 1,0,0 --light 0.5,0.5,3 --ambient 0 --fps 2"
photons="--photons 3000 --caustics 500 --gather -k 20 --seed 3"
sapwood render walk.gltf -o a.ppm $options $photons --frames 0:3 --threads 1
sapwood render walk.gltf -o b.ppm $options $photons --frames 1:2 --threads 3 -q && cmp a-001.ppm b-001.ppm
cmp -s a-000.ppm a-001.ppm || echo it moves
sapwood render walk.gltf -o c.ppm $options --frames 1:2 -q && { cmp -s a-001.ppm c-001.ppm || echo "not as by paths alone"; }
sapwood render walk.gltf -o d.ppm $options $photons --frames 0:2 --json -q
