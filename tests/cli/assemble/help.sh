sapwood assemble --help
