sapwood info five.xyz > /dev/full
