echo old > a.ppm; small_disk sapwood render quad.obj -o a.ppm --size 40x40; cat a.ppm; ls -A | grep part
