sapwood help > a && sapwood --help | cmp - a && sapwood help nearest > b && sapwood nearest --help | cmp - b && sapwood help help | cmp - a
