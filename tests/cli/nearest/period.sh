sapwood nearest five.xyz queries.xyz -k 2 --period 3,0,4.5 --device cpu --distances d.xyz; cat d.xyz
