sapwood normals absent.xyz -k 4
