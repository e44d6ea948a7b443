sapwood pairs five.xyz -r 3 -o - --format csv; sapwood pairs five.xyz -r 3 --count -o - --format csv
