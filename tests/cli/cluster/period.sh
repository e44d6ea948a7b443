sapwood cluster five.xyz -r 1.1 --period 0,2.5,0
