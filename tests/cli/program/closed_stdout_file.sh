sapwood nearest five.xyz -q -o ids.npy >&- && show ids.npy
