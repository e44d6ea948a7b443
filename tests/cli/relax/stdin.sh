sapwood relax - --steps 1 < five.xyz
