sapwood density nan.xyz -r 3
