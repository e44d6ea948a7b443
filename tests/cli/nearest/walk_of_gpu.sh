# What the library says, passed on.
for walk in warp packet; do sapwood nearest five.xyz --walk $walk --device cpu; echo $?; done
sapwood bench five.xyz --walk warp --device cpu
