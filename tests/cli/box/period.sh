sapwood box five.xyz --lower=-0.5,-0.5,-0.5 --upper 0.5,0.5,0.5 --period 0,2,4 --device cpu --ids i.xyz; cat i.xyz
