sapwood thin five.xyz --cell-size inf
