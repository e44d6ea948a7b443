sapwood thin five.xyz -s 0
