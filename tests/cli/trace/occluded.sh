closed_cube > cube.obj
printf '0.1 0.2 5 0 0 -1\n9 9 5 0 0 -1\n' > rays.xyz
sapwood trace cube.obj rays.xyz --occluded && sapwood trace cube.obj rays.xyz --occluded -o some.csv && cat some.csv
sapwood trace cube.obj rays.xyz --occluded -q -o some.npy && head -c 128 some.npy | tr -d '\000-\037' | cut -c 7-60 && tail -c 2 some.npy | od -An -t u1
