: > empty.xyz; sapwood info empty.xyz
