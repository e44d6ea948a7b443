sapwood relax absent.xyz
