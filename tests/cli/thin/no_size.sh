sapwood thin five.xyz
