sapwood normals nan.xyz -k 4 --drop-nonfinite
