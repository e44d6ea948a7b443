sapwood verify --help
