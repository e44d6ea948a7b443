sapwood radius five.xyz -r 1 --count --ids ids.npy
