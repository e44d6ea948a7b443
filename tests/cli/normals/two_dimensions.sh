sapwood normals flat.xyz --columns 1,2
