sapwood nearest --help
