sapwood density five.xyz -r 1.5 --period 0,2.5,0
