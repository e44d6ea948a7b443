sapwood info quad.obj --json
