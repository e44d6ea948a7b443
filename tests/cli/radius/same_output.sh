sapwood radius five.xyz -r 1 -o o.npy --ids o.npy; echo $?
sapwood radius five.xyz -r 1 --ids o.npy --distances o.npy
