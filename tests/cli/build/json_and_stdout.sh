sapwood build five.xyz -o - --json
