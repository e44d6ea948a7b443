sapwood radius five.xyz queries.xyz -r 2 --sorted -o offsets.npy --ids ids.npy --distances d2.npy
show offsets.npy | tr '\n' ' ' && show ids.npy | tr '\n' ' ' && show d2.npy | tr '\n' ' '
