sapwood cluster nan.xyz -r 2
