sapwood cluster five.xyz --radius inf
