# A saved tree keeps its periods, and takes no others.
sapwood build five.xyz --period 3,0,4.5 -o p.sap --json
sapwood info p.sap
sapwood nearest p.sap --period 3,0,4.5
