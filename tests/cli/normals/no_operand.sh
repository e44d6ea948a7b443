sapwood normals
