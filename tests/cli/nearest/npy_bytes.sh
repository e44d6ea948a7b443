sapwood nearest five.xyz queries.xyz -k 2 -q -o ids.npy && head -c 80 ids.npy | tr -d '\n' | tail -c +11 && echo && tail -c 24 ids.npy | od -An -td4
