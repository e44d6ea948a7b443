# Where the build has zlib, the file begins as a PNG does.
sapwood render quad.obj -q -o a.png --size 8x8 2> why || { grep -q "no zlib" why && exit 77; }
head -c 4 a.png | od -An -c
