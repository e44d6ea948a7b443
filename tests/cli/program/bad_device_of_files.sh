sapwood info five.xyz --device gpu
