# Through a pipe and to a file, the bytes that a named file gets.
sapwood build five.xyz -q -o five.sap && sapwood build five.xyz -o - | cat > piped.sap && cmp five.sap piped.sap &&
  sapwood build five.xyz -q -o - > sent.sap && cmp five.sap sent.sap
