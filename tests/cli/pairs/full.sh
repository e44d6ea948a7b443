sapwood pairs five.xyz -r 3 --full
