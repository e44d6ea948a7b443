sapwood closest - -
