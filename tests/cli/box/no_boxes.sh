sapwood box five.xyz
