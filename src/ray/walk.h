// The first hit of one ray, or any hit; a walk may stop and continue later. Shared text; needs ray/intersect.h and
// SAP_MESH_STACK, the most inner nodes above a leaf. The reference for all other walks.
//
// Cells do not overlap: the walk visits leaves in the order in which the ray meets them, and ends before the first leaf
// that begins behind a hit.

SAP_STRUCT(sap_ray_result)
struct sap_ray_result {
    int triangle; // its number in the mesh, or -1
    float t;
    float u;
    float v;
    SAP_BITS place; // of the triangle, for the accessors
    int visits;     // nodes visited, leaves included
};

// The far side of a plane that the ray crosses.
SAP_STRUCT(sap_far_side)
struct sap_far_side {
    SAP_BITS node;
    sap_span span;
};

// Tests a triangle and returns the better of its hit and `found`.
SAP_FN sap_ray_result sap_ray_test_triangle(SAP_MESH_PARAM SAP_BITS place, SAP_RAY_PARAM sap_ray_result found) {
    sap_crossing hit = sap_triangle_cross(SAP_RAY sap_mesh_triangle(SAP_MESH place));
    if (hit.is_hit && hit.t <= found.t) {
        int id = sap_mesh_id(SAP_MESH place);
        if (hit.t < found.t || found.triangle < 0 || id < found.triangle) {
            found.triangle = id;
            found.t = hit.t;
            found.u = hit.u;
            found.v = hit.v;
            found.place = place;
        }
    }
    return found;
}

// The state of a walk that can continue later. Nodes are in preorder, so the path to a node follows from its number;
// so the stack need not be kept: it is rebuilt on that path.
SAP_STRUCT(sap_ray_walk_state)
struct sap_ray_walk_state {
    bool going;    // the walk has not ended
    SAP_BITS node; // to visit next
    int next;      // of a leaf: the first triangle that has not been tested
    sap_ray_result found;
};

SAP_FN sap_ray_walk_state sap_ray_walk_begin(SAP_RAY_PARAM sap_vector lower, sap_vector upper) {
    sap_ray_walk_state walk;
    sap_span span = sap_ray_clip(SAP_RAY lower, upper);
    walk.going = ray.is_ray && span.from <= span.to;
    walk.node = 0u;
    walk.next = 0;
    walk.found.triangle = -1;
    walk.found.t = ray.t_max;
    walk.found.u = 0.0f;
    walk.found.v = 0.0f;
    walk.found.place = 0u;
    walk.found.visits = 0;
    return walk;
}

// Continues for about `rounds` nodes and triangles (below 1: to the end), at most by one path down the tree more. any:
// the walk ends with the first leaf that has a hit.
SAP_FN sap_ray_walk_state sap_ray_walk_resume(SAP_MESH_PARAM sap_ray_walk_state walk, SAP_RAY_PARAM sap_vector lower,
                                              sap_vector upper, bool any, int rounds) {
    SAP_ASSERT(walk.next >= 0);
    sap_far_side waiting[SAP_MESH_STACK];
    int top = 0;
    int cost = rounds > 0 ? 1 : 0;
    int left = rounds > 0 ? rounds : 1;
    int next = walk.next;
    SAP_BITS begin = walk.node; // nodes before it have been visited: those on the path to it are only passed
    SAP_BITS node = 0u;
    sap_span span = sap_ray_clip(SAP_RAY lower, upper);
    span.to = walk.found.t < span.to ? walk.found.t : span.to;
    bool searching = walk.going;
    while (searching) {
        sap_mesh_step step = sap_mesh_step_at(SAP_MESH node);
        while (!step.is_leaf) {
            bool is_backward = sap_is_backward(SAP_RAY step.axis);
            SAP_BITS near_side = is_backward ? step.right : node + 1u;
            SAP_BITS far_side = is_backward ? node + 1u : step.right;
            float early = sap_plane_early(SAP_RAY step.axis, step.split);
            float late = sap_plane_late(SAP_RAY step.axis, step.split);
            float near_to = late < span.to ? late : span.to;
            float far_from = early > span.from ? early : span.from;
            bool is_known = node < begin;
            bool is_near = is_known ? (begin < step.right) != is_backward : span.from <= near_to;
            if (is_near && far_from <= span.to) {
                SAP_ASSERT(top < SAP_MESH_STACK);
                waiting[top].node = far_side;
                waiting[top].span.from = far_from;
                waiting[top].span.to = span.to;
                top += 1;
            }
            walk.found.visits += is_known ? 0 : 1;
            node = is_near ? near_side : far_side;
            span.from = is_near ? span.from : far_from;
            span.to = is_near ? near_to : span.to;
            left -= is_known ? 0 : cost;
            step = sap_mesh_step_at(SAP_MESH node);
        }
        while (next < step.count && left > 0) {
            walk.found = sap_ray_test_triangle(SAP_MESH sap_mesh_place_of(SAP_MESH step, next), SAP_RAY walk.found);
            next += 1;
            left -= cost;
        }
        walk.node = node;
        walk.next = next;
        SAP_ASSERT(begin <= node && next >= 0);
        searching = next >= step.count;
        if (searching) {
            walk.found.visits += 1;
            walk.going = !(any && walk.found.triangle >= 0);
            bool popping = walk.going;
            while (popping) {
                walk.going = top > 0;
                popping = walk.going;
                if (walk.going) {
                    top -= 1;
                    node = waiting[top].node;
                    span = waiting[top].span;
                    span.to = walk.found.t < span.to ? walk.found.t : span.to;
                    popping = !(span.from <= span.to);
                }
            }
            next = 0;
            begin = 0u;
            searching = walk.going && left > 0;
            walk.node = node;
            walk.next = 0;
        }
    }
    return walk;
}

SAP_FN sap_ray_result sap_ray_walk(SAP_MESH_PARAM SAP_RAY_PARAM sap_vector lower, sap_vector upper, bool any) {
    return sap_ray_walk_resume(SAP_MESH sap_ray_walk_begin(SAP_RAY lower, upper), SAP_RAY lower, upper, any, 0).found;
}
