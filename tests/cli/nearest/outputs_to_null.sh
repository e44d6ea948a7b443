sapwood nearest five.xyz -q --format npy -o /dev/null --distances /dev/null
