sapwood relax flat.xyz
