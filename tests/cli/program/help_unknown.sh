sapwood help frobnicate
