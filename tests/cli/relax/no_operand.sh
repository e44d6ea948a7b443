sapwood relax
