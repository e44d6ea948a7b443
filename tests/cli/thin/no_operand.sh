sapwood thin
