sapwood cluster
