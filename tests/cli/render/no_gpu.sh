# A GPU that no machine has; a build without GPUs says so in other words.
sapwood render faces.ply -o a.ppm --device cuda:99 2>&1 | sed -E 's/(no GPU 99: .*|this build .*); use/WHY; use/'
[ ! -e a.ppm ]
