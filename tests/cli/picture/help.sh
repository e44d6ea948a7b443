sapwood picture --help
