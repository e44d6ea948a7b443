# The number has its place in the name, and pictures depend neither on threads nor on what was drawn before.
moving_gltf > walk.gltf
view="--size 16x8 --samples 1 --eye 1,1,5 --at 1,0,0 --clip walk -q"
sapwood render walk.gltf -o '%03d_of_walk.ppm' $view --frames 9:12 --threads 1 && ls *walk.ppm
sapwood render walk.gltf -o '%d.ppm' $view --frames 11:12 --fps 30 --clip 0 --threads 3 && cmp 11.ppm 011_of_walk.ppm
