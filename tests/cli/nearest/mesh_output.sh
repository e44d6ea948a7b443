sapwood nearest five.xyz -o ids.obj
