printf "0 0 0 1 1 1\n-1 -1 -1 9 9 9\n" > boxes.xyz
sapwood box five.xyz boxes.xyz -o rows.npy --ids ids.npy --sorted && show rows.npy && show ids.npy
