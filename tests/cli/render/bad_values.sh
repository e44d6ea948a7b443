for option in "--size 8" --size=0x8 --size=8x70000 "--size axb" "--eye 1,2" "--at 1,2,3,4" "--up x,y,z" "--fov 180" "--fov -1" "--light 1,2" "--light 1,2,3,4" "--area-light 1,2,3" "--area-light 1,2,3,-1" "--samples 0" "--bounces 65" "--orbit 0" "--quality best" "--eye 1,2,nan"; do
  sapwood render quad.obj -o a.ppm $option; echo "$?"
done 2>&1 | grep -v ^Try
