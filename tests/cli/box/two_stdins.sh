sapwood box - - < five.xyz
