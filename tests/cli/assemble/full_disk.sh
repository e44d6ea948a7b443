# What cannot be written whole is not written at all.
land 0 1 11 > a.xyz
cp a.xyz b.xyz
(trap '' XFSZ; ulimit -f 64; sapwood assemble five.xyz a.xyz b.xyz -o '{n}.csv' --least-overlap 0.0001)
status=$?
ls -A | grep -v '\.\(xyz\|sap\|npy\|csv\)$' | grep -E 'part|^[0-9]'
exit $status
