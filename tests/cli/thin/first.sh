sapwood thin five.xyz -s 3 --point first --counts
