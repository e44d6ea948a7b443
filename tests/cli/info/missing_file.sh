sapwood info no.ply
