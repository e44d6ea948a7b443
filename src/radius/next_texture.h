// Where a walk without a stack goes on, through trees in textures. Text for GLSL ES 3.00; needs tree/forms/texture.h.

// The next node that is not below this one; 0: there is none.
#ifdef SAP_EXPLICIT
uint sap_next_node(uint node) {
    uint above = sap_inner_at(node).parent;
    uint next = 0u;
    while (above != 0u && next == 0u) {
        sap_inner inner = sap_inner_at(above);
        if (inner.upper != node) next = inner.upper;
        node = above;
        above = inner.parent;
    }
    return next;
}
#else
uint sap_next_node(uint node) {
    uint next = (node + 1u) >> sap_trailing_zeros(node + 1u);
    return next > 1u ? next : 0u;
}
#endif
