sapwood build five.xyz
