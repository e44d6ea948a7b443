sapwood distance five.xyz
