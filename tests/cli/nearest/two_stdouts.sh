sapwood nearest five.xyz queries.xyz -o - --distances -
