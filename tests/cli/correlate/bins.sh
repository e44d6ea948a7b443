sapwood correlate five.xyz -r 0,1,2.3,4,9 --bins
