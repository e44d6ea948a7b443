sapwood nearest five.xyz -o ids.npy --progress always 2>&1 | tr "\r" "\n" | grep -c "%" > /dev/null; show ids.npy
