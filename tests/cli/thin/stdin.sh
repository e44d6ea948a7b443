sapwood thin - -s 1.5 < five.xyz
