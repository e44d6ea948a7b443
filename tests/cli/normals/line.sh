for i in 0 1 2 3 4; do echo $i $i $i; done | sapwood normals -
