sapwood nearest five.xyz bad.xyz
