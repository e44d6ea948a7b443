cp five.xyz points && sapwood build points -o ./points
