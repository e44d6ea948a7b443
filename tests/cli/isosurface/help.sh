sapwood isosurface --help
