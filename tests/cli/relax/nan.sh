sapwood relax nan.xyz
