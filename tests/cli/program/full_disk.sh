sapwood --help > /dev/full
