sapwood box five.xyz queries.xyz
