// The first hit of one ray, or any. Shared text; needs ray/intersect.h and SAP_MESH_STACK, the most inner nodes above a
// leaf. The reference for all other walks.
//
// Cells do not overlap: the walk takes leaves in the order in which the ray meets them, and ends at the first leaf that
// begins behind a hit.

SAP_STRUCT(sap_walked)
struct sap_walked {
    int triangle; // its number in the mesh, or -1
    float t;
    float u;
    float v;
    int visits; // nodes looked at, leaves included
};

// The far side of a plane that the ray crosses.
SAP_STRUCT(sap_far_side)
struct sap_far_side {
    SAP_BITS node;
    sap_span span;
};

// The better of what was found and what the triangles of a leaf hold.
SAP_FN sap_walked sap_leaf_trace(SAP_MESH_PARAM sap_mesh_step leaf, sap_prepared_ray ray, sap_walked found) {
    for (int i = 0; i < leaf.count; ++i) {
        SAP_BITS place = sap_mesh_place(SAP_MESH leaf, i);
        sap_crossing hit = sap_triangle_cross(ray, sap_mesh_triangle(SAP_MESH place));
        if (hit.is_hit && hit.t <= found.t) {
            int id = sap_mesh_id(SAP_MESH place);
            if (hit.t < found.t || found.triangle < 0 || id < found.triangle) {
                found.triangle = id;
                found.t = hit.t;
                found.u = hit.u;
                found.v = hit.v;
            }
        }
    }
    return found;
}

// `any`: the walk ends with the first leaf that holds a hit.
SAP_FN sap_walked sap_ray_walk(SAP_MESH_PARAM sap_prepared_ray ray, sap_vector lower, sap_vector upper, bool any) {
    sap_walked found;
    found.triangle = -1;
    found.t = ray.t_max;
    found.u = 0.0f;
    found.v = 0.0f;
    found.visits = 0;
    sap_far_side waiting[SAP_MESH_STACK];
    int top = 0;
    SAP_BITS node = 0u;
    sap_span span = sap_ray_clip(ray, lower, upper);
    bool going = ray.is_ray && span.from <= span.to;
    while (going) {
        sap_mesh_step step = sap_mesh_step_at(SAP_MESH node);
        found.visits += 1;
        if (!step.is_leaf) {
            bool is_backward = sap_is_backward(ray, step.axis);
            SAP_BITS near_side = is_backward ? step.right : node + 1u;
            SAP_BITS far_side = is_backward ? node + 1u : step.right;
            float early = sap_plane_early(ray, step.axis, step.split);
            float late = sap_plane_late(ray, step.axis, step.split);
            float near_to = late < span.to ? late : span.to;
            float far_from = early > span.from ? early : span.from;
            bool is_near = span.from <= near_to;
            bool is_far = far_from <= span.to;
            if (is_near && is_far) {
                waiting[top].node = far_side;
                waiting[top].span.from = far_from;
                waiting[top].span.to = span.to;
                top += 1;
            }
            node = is_near ? near_side : far_side;
            span.from = is_near ? span.from : far_from;
            span.to = is_near ? near_to : span.to;
        } else {
            found = sap_leaf_trace(SAP_MESH step, ray, found);
            going = !(any && found.triangle >= 0);
            bool searching = going;
            while (searching) {
                going = top > 0;
                searching = going;
                if (going) {
                    top -= 1;
                    node = waiting[top].node;
                    span = waiting[top].span;
                    span.to = found.t < span.to ? found.t : span.to;
                    searching = !(span.from <= span.to);
                }
            }
        }
    }
    return found;
}
