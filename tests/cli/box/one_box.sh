sapwood box five.xyz --lower -1,0,-inf --upper=1,inf,0.5 --ids - --format xyz
