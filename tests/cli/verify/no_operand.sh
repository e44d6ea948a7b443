sapwood verify --json
