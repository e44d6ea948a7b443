// The walk with a stack of nearest/walk.h through balanced trees in textures, which may stop and go on in the next pass. A
// sibling of it, because a pass cannot hand a stack on: it hands on the bits of the walk without one, which say of each
// node on the path whether its sibling waits, and the rest of the stack follows from the path. Text for GLSL ES 3.00;
// needs tree/forms/texture.h, nearest/walk.h and SAP_STACK, the most inner nodes on a path.

// How many levels a node is below the root. The second highest bit is cleared, so that the conversion cannot round up to
// the next power of two.
int sap_level_of(uint node) { return (floatBitsToInt(float(node & ~(node >> 1))) >> 23) - 127; }

sap_nearest_place sap_stack_resume(sap_nearest_place place, sap_point query, int without, int leaves) {
    sap_nearest_pending waiting[SAP_STACK];
    int count = 0;
    sap_point offset = sap_point_of(0.0);
    uint node = SAP_ROOT;
    for (int up = place.going ? sap_level_of(place.node) - 1 : -1; up >= 0; --up) {
        sap_inner inner = sap_inner_at(node);
        float aside = sap_point_on(query, inner.axis) - inner.split;
        node = place.node >> up;
        sap_point other = sap_point_with(offset, inner.axis, aside);
        if ((node == inner.lower) != (aside <= 0.0)) {
            // The path goes through the farther child.
            sap_point nearer = offset;
            offset = other;
            other = nearer;
        }
        if (((place.pending >> up) & 1u) != 0u) {
            waiting[count].node = node ^ 1u;
            waiting[count].bound2 = sap_length2(other);
            waiting[count].offset = other;
            count += 1;
        }
    }
    int last = place.result.leaves + leaves;
    bool tied = false;
    while (place.going && place.result.leaves < last) {
        sap_inner inner = sap_inner_at(node);
        while (!inner.is_leaf) {
            float aside = sap_point_on(query, inner.axis) - inner.split;
            sap_point farther = sap_point_with(offset, inner.axis, aside);
            float bound2 = sap_length2(farther);
            node = aside <= 0.0 ? inner.lower : inner.upper;
            if (bound2 <= sap_candidates_limit2(place.result.list)) {
                uint other = node ^ 1u;
                if (tied && sap_smallest_id(other) < sap_smallest_id(node)) {
                    // Both bounds are the limit: they change places.
                    sap_point nearer = offset;
                    offset = farther;
                    farther = nearer;
                    node = other;
                    other = node ^ 1u;
                }
                waiting[count].node = other;
                waiting[count].bound2 = bound2;
                waiting[count].offset = farther;
                count += 1;
            }
            place.result.nodes += 1;
            inner = sap_inner_at(node);
        }
        place.result = sap_nearest_scan(node, query, without, place.result);
        place.going = false;
        while (count > 0 && !place.going) {
            count -= 1;
            node = waiting[count].node;
            offset = waiting[count].offset;
            place.going = sap_nearest_reaches(node, waiting[count].bound2, place.result.list);
            tied = waiting[count].bound2 == sap_candidates_limit2(place.result.list);
        }
    }
    place.node = node;
    place.pending = 0u;
    int level = sap_level_of(node);
    for (int i = 0; i < count; ++i) place.pending |= 1u << (level - sap_level_of(waiting[i].node));
    return place;
}
