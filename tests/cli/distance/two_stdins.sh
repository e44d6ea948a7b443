sapwood distance - - < five.xyz
