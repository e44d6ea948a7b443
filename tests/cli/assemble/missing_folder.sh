sapwood assemble five.xyz five.xyz -o 'absent/{n}.xyz'
