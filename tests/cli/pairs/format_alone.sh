sapwood pairs five.xyz -r 1 --json --format csv
