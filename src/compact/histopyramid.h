// Histopyramids (Ziegler, Tevs, Theobalt and Seidel 2006): sums of sums over cells, with which each output finds its
// own cell. Shared text; needs the dialect.
//
// **Levels.** Cells have counts, and are level 0. Node j of a level is the sum of the nodes 4j ... 4j+3 of the level
// below, as far as there are that many; the top level is one node, the total. They are four in a row, not two by two as
// published: so keys are in the order of the cells, and there may be any number of cells.
//
// **Keys.** Output `key` of 0 ... total-1 belongs to the cell in which it falls when the counts are laid end to end.
// The way down from the top takes at each node the child in which the key falls, and subtracts what lies ahead of that.
// In the plain form a node is its sum, so that a step reads three children; in the vec4 form (Dyken, Ziegler, Theobalt
// and Seidel 2008) a node is the four running sums of its children, so that a step reads the node alone.

SAP_STRUCT(sap_key)
struct sap_key {
    SAP_BITS node; // in which the key lies
    SAP_BITS rest; // the key, counted from that node's first
};

// From a node to the child in which the key falls; `ends` are the sums of its first child, of the first two, of three.
SAP_FN sap_key sap_key_down(sap_key key, SAP_BITS first_end, SAP_BITS second_end, SAP_BITS third_end) {
    sap_key below;
    SAP_BITS child = 0u;
    SAP_BITS start = 0u;
    if (key.rest >= first_end) {
        child = 1u;
        start = first_end;
    }
    if (key.rest >= second_end) {
        child = 2u;
        start = second_end;
    }
    if (key.rest >= third_end) {
        child = 3u;
        start = third_end;
    }
    below.node = 4u * key.node + child;
    below.rest = key.rest - start;
    return below;
}

// The way back, which gives a cell's first key: what lies ahead of a node among the children of the node above it.
SAP_FN SAP_BITS sap_key_ahead(SAP_BITS node, SAP_BITS first_end, SAP_BITS second_end, SAP_BITS third_end) {
    SAP_BITS child = node & 3u;
    SAP_BITS late = child == 2u ? second_end : third_end;
    SAP_BITS early = child == 0u ? 0u : first_end;
    return child < 2u ? early : late;
}
