sapwood density five.xyz -k 2 --kernel
