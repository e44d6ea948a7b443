# The light itself as OpenEXR, where the build has it (tests/test_exr.c reads such files back); elsewhere what to install.
sapwood render quad.obj -o a.exr --size 3x2 --samples 1 --eye 0,0,9 --at 0,0,20 -q 2> said ||
  { grep -q 'no OpenEXR; use .pfm, or install libopenexr-dev' said && exit 77; }
cat said
head -c 4 a.exr | od -An -t x1
