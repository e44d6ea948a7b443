# The answers are those of brute force and of a saved tree; without the box there are others.
sapwood nearest five.xyz queries.xyz -k 3 --metric l1 --box 0,0,0,1,2,3 --verify -o points.npy || exit
sapwood build five.xyz -q -o five.tree && sapwood nearest five.tree queries.xyz -k 3 -q --metric l1 --box 0,0,0,1,2,3 -o tree.npy || exit
sapwood nearest five.xyz queries.xyz -k 3 -q --metric l1 -o all.npy || exit
cmp points.npy tree.npy && ! cmp -s points.npy all.npy
