lattice 10 > l.xyz; small_disk "$SAPWOOD" convert l.xyz -o l.npy; status=$?; ls *.npy 2> /dev/null; exit $status
