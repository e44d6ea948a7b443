sapwood --wersion
