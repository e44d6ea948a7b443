# One bit of the last byte.
sapwood build five.xyz -q -o five.sap
size=$(wc -c < five.sap)
byte=$(tail -c 1 five.sap | od -An -tu1)
printf "\\x$(printf %x $((byte ^ 4)))" | dd of=five.sap bs=1 seek=$((size - 1)) conv=notrunc status=none
sapwood verify five.sap 2> log
status=$?
sed -E 's/byte [0-9]+/byte N/' log >&2
exit $status
