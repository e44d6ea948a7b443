sapwood
