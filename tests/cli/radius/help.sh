sapwood radius --help
