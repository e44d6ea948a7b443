sapwood align five.xyz
