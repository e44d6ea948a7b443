sapwood thin five.xyz -s 1e-30
