sapwood thin --help
