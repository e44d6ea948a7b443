sapwood --help
