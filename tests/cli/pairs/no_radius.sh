sapwood pairs five.xyz
