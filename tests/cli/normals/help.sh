sapwood normals --help
