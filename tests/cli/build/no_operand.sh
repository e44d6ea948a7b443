sapwood build --json
