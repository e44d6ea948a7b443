sapwood cluster - -r 2 < five.xyz
