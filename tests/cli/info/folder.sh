mkdir folder; sapwood info folder
