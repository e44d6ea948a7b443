sapwood nearest - -
