sapwood info - < five.xyz
