// The point of the triangles nearest to a query. Shared text; needs ray/intersect.h and SAP_MESH_STACK.
//
// The nearest point of a triangle is the nearest of its three edges and, if the query projects into it, of its face.
// Needles, whose face cannot be computed reliably, are covered by their edges. Cells are skipped by a distance reduced
// by the margin of ray/intersect.h, which covers rounding errors of the triangles' distances.

SAP_STRUCT(sap_near_point)
struct sap_near_point {
    int triangle; // its number in the mesh, or -1
    float distance2;
    sap_vector point;
    float u;
    float v;
};

SAP_FN sap_vector sap_difference(sap_vector a, sap_vector b) {
    sap_vector d;
    d.x = a.x - b.x;
    d.y = a.y - b.y;
    d.z = a.z - b.z;
    return d;
}

SAP_FN float sap_dot(sap_vector a, sap_vector b) {
    return (sap_product(a.x, b.x) + sap_product(a.y, b.y)) + sap_product(a.z, b.z);
}

// from + along * part
SAP_FN sap_vector sap_vector_add_scaled(sap_vector from, sap_vector along, float part) {
    sap_vector to;
    to.x = from.x + sap_product(along.x, part);
    to.y = from.y + sap_product(along.y, part);
    to.z = from.z + sap_product(along.z, part);
    return to;
}

SAP_FN float sap_vector_distance2(sap_vector a, sap_vector b) {
    sap_vector d = sap_difference(a, b);
    return sap_dot(d, d);
}

// The position of the nearest point on an edge: 0 … 1.
SAP_FN float sap_edge_part(sap_vector from, sap_vector to, sap_vector query) {
    sap_vector edge = sap_difference(to, from);
    float length2 = sap_dot(edge, edge);
    float part = 0.0f;
    if (length2 > 0.0f) part = sap_quotient(sap_dot(sap_difference(query, from), edge), length2);
    part = part > 0.0f ? part : 0.0f;
    return part < 1.0f ? part : 1.0f;
}

SAP_FN sap_vector sap_edge_point(sap_vector from, sap_vector to, float part) {
    sap_vector point = sap_vector_add_scaled(from, sap_difference(to, from), part);
    point.x = part < 1.0f ? point.x : to.x;
    point.y = part < 1.0f ? point.y : to.y;
    point.z = part < 1.0f ? point.z : to.z;
    return point;
}

SAP_FN sap_near_point sap_nearer(sap_near_point best, sap_vector query, sap_vector point, float u, float v) {
    float distance2 = sap_vector_distance2(query, point);
    if (distance2 < best.distance2) {
        best.distance2 = distance2;
        best.point = point;
        best.u = u;
        best.v = v;
    }
    return best;
}

// No nearest point yet.
SAP_FN sap_near_point sap_no_near_point(sap_vector query, float infinite) {
    sap_near_point none;
    none.triangle = -1;
    none.distance2 = infinite;
    none.point = query;
    none.u = 0.0f;
    none.v = 0.0f;
    return none;
}

// No less than the squared distance of the nearest point, once some point of the mesh is known: it lies there but for
// rounding errors. `magnitude`: the largest coordinate of the tree's box.
SAP_FN float sap_known_limit2(sap_vector query, sap_vector known, float magnitude) {
    float margin = sap_margin(magnitude + sap_largest_magnitude(query));
    return 1.01f * sap_vector_distance2(query, known) + 128.0f * margin * margin;
}

// The nearest point of one triangle; its distance is infinite if coordinates overflow.
SAP_FN sap_near_point sap_triangle_nearest(sap_triangle t, sap_vector query, float infinite) {
    sap_near_point best = sap_no_near_point(query, infinite);
    sap_vector b = sap_difference(t.b, t.a);
    sap_vector c = sap_difference(t.c, t.a);
    sap_vector q = sap_difference(query, t.a);
    float bb = sap_dot(b, b);
    float bc = sap_dot(b, c);
    float cc = sap_dot(c, c);
    float bq = sap_dot(b, q);
    float cq = sap_dot(c, q);
    float area = sap_product(bb, cc) - sap_product(bc, bc);
    float u = sap_quotient(sap_product(cc, bq) - sap_product(bc, cq), area);
    float v = sap_quotient(sap_product(bb, cq) - sap_product(bc, bq), area);
    if (area > 0.0f && u >= 0.0f && v >= 0.0f && u + v <= 1.0f)
        best = sap_nearer(best, query, sap_vector_add_scaled(sap_vector_add_scaled(t.a, b, u), c, v), u, v);
    float ab = sap_edge_part(t.a, t.b, query);
    best = sap_nearer(best, query, sap_edge_point(t.a, t.b, ab), ab, 0.0f);
    float ac = sap_edge_part(t.a, t.c, query);
    best = sap_nearer(best, query, sap_edge_point(t.a, t.c, ac), 0.0f, ac);
    float last = sap_edge_part(t.b, t.c, query);
    return sap_nearer(best, query, sap_edge_point(t.b, t.c, last), 1.0f - last, last);
}

// A node that waits, and a lower bound of the query's distance from its cell along each axis.
SAP_STRUCT(sap_near_node)
struct sap_near_node {
    SAP_BITS node;
    sap_vector outside;
};

// A lower bound of the squared distances, as computed, of everything in the cell.
SAP_FN float sap_cell_distance2(sap_vector outside) {
    return sap_dot(outside, outside) * 0.99999905f; // 1 - 2^-20
}

SAP_FN float sap_least_of(float a, float b, float c) {
    float least = a < b ? a : b;
    return least < c ? least : c;
}

SAP_FN float sap_most_of(float a, float b, float c) {
    float most = a > b ? a : b;
    return most > c ? most : c;
}

SAP_FN float sap_outside(float query, float lower, float upper, float margin) {
    float below = (lower - query) - margin;
    float above = (query - upper) - margin;
    float outside = below > above ? below : above;
    return outside > 0.0f ? outside : 0.0f;
}

// The same for a triangle's bounding box.
SAP_FN float sap_triangle_distance2(sap_triangle t, sap_vector query, float margin) {
    sap_vector outside;
    outside.x = sap_outside(query.x, sap_least_of(t.a.x, t.b.x, t.c.x), sap_most_of(t.a.x, t.b.x, t.c.x), margin);
    outside.y = sap_outside(query.y, sap_least_of(t.a.y, t.b.y, t.c.y), sap_most_of(t.a.y, t.b.y, t.c.y), margin);
    outside.z = sap_outside(query.z, sap_least_of(t.a.z, t.b.z, t.c.z), sap_most_of(t.a.z, t.b.z, t.c.z), margin);
    return sap_cell_distance2(outside);
}

SAP_FN sap_near_point sap_leaf_nearest(SAP_MESH_PARAM sap_mesh_step leaf, sap_vector query, float margin,
                                       float infinite, sap_near_point best) {
    for (int i = 0; i < leaf.count; ++i) {
        SAP_BITS place = sap_mesh_place_of(SAP_MESH leaf, i);
        sap_triangle triangle = sap_mesh_triangle(SAP_MESH place);
        if (sap_triangle_distance2(triangle, query, margin) <= best.distance2) {
            sap_near_point found = sap_triangle_nearest(triangle, query, infinite);
            found.triangle = sap_mesh_id(SAP_MESH place);
            bool is_first = found.distance2 == best.distance2 && found.triangle < best.triangle;
            if (found.distance2 < best.distance2 || is_first) best = found;
        }
    }
    return best;
}

// `query` is finite. `infinite` is infinity, for which not all languages have a constant.
SAP_FN sap_near_point sap_mesh_nearest(SAP_MESH_PARAM sap_vector query, sap_vector lower, sap_vector upper,
                                       float infinite) {
    SAP_ASSERT(sap_is_finite(query));
    sap_near_point best = sap_no_near_point(query, infinite);
    float magnitude = sap_largest_magnitude(lower);
    float other = sap_largest_magnitude(upper);
    float margin = sap_margin((magnitude > other ? magnitude : other) + sap_largest_magnitude(query));
    sap_near_node waiting[SAP_MESH_STACK];
    int top = 0;
    sap_near_node at;
    at.node = 0u;
    at.outside.x = sap_outside(query.x, lower.x, upper.x, margin);
    at.outside.y = sap_outside(query.y, lower.y, upper.y, margin);
    at.outside.z = sap_outside(query.z, lower.z, upper.z, margin);
    bool going = true;
    while (going) {
        sap_mesh_step step = sap_mesh_step_at(SAP_MESH at.node);
        if (!step.is_leaf) {
            float q = sap_pick(query, step.axis);
            bool is_below = q < step.split;
            float gap = (is_below ? step.split - q : q - step.split) - margin;
            sap_near_node far_side = at;
            far_side.node = is_below ? step.right : at.node + 1u;
            if (step.axis == 0) far_side.outside.x = gap > at.outside.x ? gap : at.outside.x;
            if (step.axis == 1) far_side.outside.y = gap > at.outside.y ? gap : at.outside.y;
            if (step.axis == 2) far_side.outside.z = gap > at.outside.z ? gap : at.outside.z;
            if (sap_cell_distance2(far_side.outside) <= best.distance2) {
                SAP_ASSERT(top < SAP_MESH_STACK);
                waiting[top] = far_side;
                top += 1;
            }
            at.node = is_below ? at.node + 1u : step.right;
        } else {
            best = sap_leaf_nearest(SAP_MESH step, query, margin, infinite, best);
            bool searching = true;
            while (searching) {
                going = top > 0;
                searching = going;
                if (going) {
                    top -= 1;
                    at = waiting[top];
                    searching = !(sap_cell_distance2(at.outside) <= best.distance2);
                }
            }
        }
    }
    return best;
}
