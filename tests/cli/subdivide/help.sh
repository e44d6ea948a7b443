sapwood subdivide --help
