# Passes end where little noise is left; a curve draws what is brighter than white.
for error in 0.2 0.02; do
  sapwood render quad.obj -o a.ppm --size 24x16 --samples 1 --until-error $error --tone filmic --exposure 4 --json -q |
    awk '/"passes"/ { print ($2 + 0 > 2) } /"error"/ { print ($2 + 0 <= '$error') }' || exit
done
sapwood render quad.obj -o a.ppm --size 24x16 --samples 2 --photons 500 --passes 3 --json -q | grep -c '"photons"'
