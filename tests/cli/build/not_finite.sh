sapwood build nan.xyz -o nan.sap; status=$?; ls *.sap 2> /dev/null; exit $status
