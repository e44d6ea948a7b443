sapwood build five.xyz -q -o five.sap && head -c -64 five.sap > cut.sap
sapwood verify cut.sap 2> log
status=$?
sed -E 's/byte [0-9]+|[0-9]+ bytes/byte N/g' log >&2
exit $status
