sapwood cluster five.xyz -r 2
