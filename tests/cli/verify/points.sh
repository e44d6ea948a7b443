sapwood verify five.xyz
