sapwood correlate five.xyz
