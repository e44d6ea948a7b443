sapwood build five.xyz -o five.sap --json -q | sed -E 's/("bytes": )[0-9]+/\1N/'
