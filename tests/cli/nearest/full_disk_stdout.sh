sapwood nearest five.xyz -o - > /dev/full
