sapwood density
