sapwood cluster five.xyz -r 0
