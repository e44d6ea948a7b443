sapwood help nearest radius
