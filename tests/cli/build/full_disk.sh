lattice 10 > l.xyz
small_disk "$SAPWOOD" build l.xyz -o l.sap
status=$?
ls *.sap 2> /dev/null
exit $status
