// The walk of nearest/walk.h through explicit trees in textures. A sibling of it, because their nodes do not name their
// parents and are too many levels deep for the bits of a number: here each node has its parent's number instead, and
// which child was the nearer one is found out again on the way up. Text for GLSL ES 3.00; needs tree/forms/texture.h and
// nearest/walk.h. place.pending is the node that the walk began at and never leaves.

sap_nearest_place sap_explicit_from(uint node, sap_candidates list) {
    sap_nearest_place place = sap_nearest_from(node, list);
    place.pending = node;
    return place;
}

sap_nearest_place sap_explicit_resume(sap_nearest_place place, sap_point query, int without, int leaves) {
    int last = place.result.leaves + leaves;
    while (place.going && place.result.leaves < last) {
        sap_inner inner = sap_inner_at(place.node);
        while (!inner.is_leaf) {
            place.node = sap_point_on(query, inner.axis) - inner.split <= 0.0 ? inner.lower : inner.upper;
            inner = sap_inner_at(place.node);
        }
        place.result = sap_nearest_scan(place.node, query, without, place.result);
        place.going = false;
        while (place.node != place.pending && !place.going) {
            uint below = place.node;
            place.node = inner.parent;
            inner = sap_inner_at(place.node);
            float aside = sap_point_on(query, inner.axis) - inner.split;
            uint farther = aside <= 0.0 ? inner.upper : inner.lower;
            place.going = below != farther && aside * aside <= sap_candidates_limit2(place.result.list) &&
                          sap_nearest_reaches(farther, sap_node_bound2(farther, query), place.result.list);
            if (place.going) place.node = farther;
        }
    }
    return place;
}
