sapwood nearst five.xyz
