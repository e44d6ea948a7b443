[ -z "${SLOW-}" ] || exit 77
awk 'BEGIN { for (i = 0; i < 40000; i++) print i % 211, i % 191 }' > p.xyz
sapwood nearest p.xyz -k 2 --verify --seed 7 -o ids.npy
