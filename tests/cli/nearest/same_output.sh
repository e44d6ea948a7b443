sapwood nearest five.xyz -o both.npy --distances both.npy
