sapwood thin nan.xyz -s 1.5
