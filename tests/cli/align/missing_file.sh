sapwood align five.xyz absent.xyz
