sapwood nearest five.xyz --json=yes
