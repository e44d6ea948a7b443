sapwood nearest five.xyz nan.xyz -k 2
