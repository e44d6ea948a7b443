closed_pipe sapwood build five.xyz -q -o five.sap --json
