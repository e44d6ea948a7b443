sapwood convert five.xyz > /dev/full
