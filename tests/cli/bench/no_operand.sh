sapwood bench a b c
