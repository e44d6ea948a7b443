sapwood nearest five.xyz no.xyz
