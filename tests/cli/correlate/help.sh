sapwood correlate --help
