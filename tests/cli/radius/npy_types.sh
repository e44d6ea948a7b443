sapwood radius five.xyz queries.xyz -r 2 -q -o offsets.npy --ids ids.npy --distances d2.npy
for f in offsets ids d2; do head -c 100 $f.npy | grep -a -o "{.*}"; done
