sapwood correlate five.xyz queries.xyz -r 0,1,2,9,20
