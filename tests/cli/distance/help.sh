sapwood distance --help
