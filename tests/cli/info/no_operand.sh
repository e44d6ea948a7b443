sapwood info --json
