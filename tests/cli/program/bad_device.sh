sapwood nearest five.xyz --device tpu
