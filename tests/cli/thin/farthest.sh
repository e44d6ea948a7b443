sapwood thin five.xyz --farthest 3
