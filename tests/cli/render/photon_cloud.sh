# Photons as a cloud, which has a picture of its own; with an origin they lie where the file says.
sapwood render quad.obj -o a.ppm --size 8x5 --samples 1 --photons 3000 --photon-cloud photons.csv --light 0.5,0.5,3 --ambient 0 -q
head -1 photons.csv; tail -n +2 photons.csv | awk -F, '($3 - 0.5) ^ 2 > 1e-12 || $6 != 1 || $10 != 1 { print "wrong: " $0 } END { print (NR > 3) }'
sapwood picture photons.csv -o photons.ppm --size 20x20 -q && wc -c < photons.ppm
printf 'v 4800000.5 0 0.5\nv 4800002 0 0.5\nv 4800000.5 2 0.5\nf 1 2 3\n' > far.obj
sapwood render far.obj -o a.ppm --size 8x5 --samples 1 --photons 3000 --photon-cloud far.csv --light 4800001,0.5,3 --origin 4800000,0,0 --ambient 0 -q
tail -n +2 far.csv | awk -F, '$1 < 4800000.5 || $1 > 4800002 { print "wrong: " $0 } END { print (NR > 3) }'
