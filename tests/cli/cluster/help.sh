sapwood cluster --help
