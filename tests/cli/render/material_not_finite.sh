# A material that is not finite would be all over the picture.
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nmtllib odd.mtl\nusemtl odd\nf 1 2 3\n' > odd.obj
for kd in "0.5 nan 0.5" "inf inf inf"; do
  printf 'newmtl odd\nKd %s\n' "$kd" > odd.mtl
  sapwood render odd.obj -o a.ppm
  echo $?
done
sapwood render odd.obj -o a.ppm --photons 100
