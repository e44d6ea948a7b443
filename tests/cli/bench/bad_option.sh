sapwood bench --repeat 3
