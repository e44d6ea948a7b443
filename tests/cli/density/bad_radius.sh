sapwood density five.xyz -r 3 --radius -1
