sapwood nearest five.xyz queries.xyz -o - --format csv
