for options in "--gather" "--caustics 9" "--seed 1" "--filter cone" "-k 3" "--radius 1" "--progressive" "--photon-cloud p.ply" \
  "--photons 0" "--photons 9 --progressive" "--photons 9 --radius 0" "--photons 9 --heat" "--photons 9 --filter box" \
  "--photons 9 --orbit 2 --photon-cloud p.ply" "--photons 9 --photon-cloud a.ppm" "--passes 5000" "--until-error 0" \
  "--until-error 0.1 --passes 1" "--until-error 0.1 --heat" "--tone bright" "--photons 2000000000 --passes 2 --samples 1"; do
  sapwood render quad.obj -o a.ppm --size 4x4 $options; echo "$?"
done 2>&1 | grep -v ^Try
