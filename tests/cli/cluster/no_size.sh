sapwood cluster five.xyz
