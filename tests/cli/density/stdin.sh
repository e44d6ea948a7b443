sapwood density - -r 3 < five.xyz
