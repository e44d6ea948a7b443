sapwood nearest --json
