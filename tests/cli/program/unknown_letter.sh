sapwood nearest five.xyz -Z
