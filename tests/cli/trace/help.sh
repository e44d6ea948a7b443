sapwood trace --help
