sapwood info --help
