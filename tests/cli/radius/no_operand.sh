sapwood radius --json
