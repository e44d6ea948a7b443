rm quad.mtl; sapwood info quad.obj | tail -3
