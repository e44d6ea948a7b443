sapwood picture five.xyz --background 2,0,0 -o o.png
