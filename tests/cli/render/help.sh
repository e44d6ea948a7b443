sapwood render --help
