# What of a pipe cannot be kept is not left out.
lattice 8 | small_disk sapwood nearest - five.xyz
