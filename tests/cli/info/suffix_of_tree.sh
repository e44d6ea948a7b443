# First bytes, then --input-format, then the suffix.
sapwood convert five.xyz -q -o five.npy && mv five.npy npy.sap && sapwood info npy.sap | grep kind
cp five.xyz text.sap && sapwood info text.sap --input-format xyz | grep kind
sapwood build five.xyz -q -o five.sap && sapwood info five.sap --input-format csv | grep kind
sapwood info text.sap
