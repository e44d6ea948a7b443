sapwood info <(cat five.xyz) | tail -n +2
