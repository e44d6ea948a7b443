sapwood correlate five.xyz -r 2,1
