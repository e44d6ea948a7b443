sapwood distance five.xyz queries.xyz -o d.obj
