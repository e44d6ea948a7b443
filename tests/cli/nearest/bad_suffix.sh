sapwood nearest five.xyz -o ids.dat
