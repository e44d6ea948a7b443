sapwood density five.xyz -r 2.5 --kernel
