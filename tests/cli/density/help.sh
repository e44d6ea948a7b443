sapwood density --help
