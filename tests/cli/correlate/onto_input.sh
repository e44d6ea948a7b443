sapwood correlate five.xyz queries.xyz -r 1 -o queries.xyz
