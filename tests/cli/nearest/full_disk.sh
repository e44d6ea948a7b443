lattice 10 > l.xyz
small_disk "$SAPWOOD" nearest l.xyz -k 2 -o ids.npy
status=$?
ls *.npy 2> /dev/null
exit $status
