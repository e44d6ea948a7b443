sapwood align - -
