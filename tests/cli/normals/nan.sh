sapwood normals nan.xyz -k 4
