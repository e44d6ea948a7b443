sapwood distance five.xyz absent.xyz
