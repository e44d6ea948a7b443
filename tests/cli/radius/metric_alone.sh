sapwood radius five.xyz -r 1 --metric l1
