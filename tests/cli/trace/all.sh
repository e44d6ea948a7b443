# Through a cube and past it: rows of a hit each; the first one alone; JSON.
closed_cube > cube.obj
printf '0.1 0.2 5 0 0 -1\n9 9 5 0 0 -1\n0.1 0.2 0 1 0 0\n' > rays.xyz
sapwood trace cube.obj rays.xyz --all && sapwood trace cube.obj rays.xyz --all --hits 1 -o one.csv && cat one.csv
sapwood trace cube.obj rays.xyz --all -o all.npy -q && head -c 192 all.npy | tr -d '\000-\037' | cut -c 7-140
sapwood trace cube.obj rays.xyz --all --json
