sapwood compact --help
