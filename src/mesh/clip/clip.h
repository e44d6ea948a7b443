// Clipping triangles to cells. Shared text; needs double precision (C and CUDA), SAP_TO_FLOAT(x), which rounds to a
// float, sap_triangle (mesh/access.h) and sap_mesh_box (mesh/build.h).
//
// Clipping computes in double on the whole triangle and rounds bounds outward to floats. If earlier cuts were rounded
// to floats, a plane nearly parallel to the triangle would amplify their errors until a strip of it is missing.

#define SAP_POLYGON 12 // most corners of a triangle cut by six planes is 9; rounding may add some

SAP_STRUCT(sap_polygon)
struct sap_polygon {
    int count;
    double corner[SAP_POLYGON][3];
};

// The bounds of a set of points; lower > upper if it is empty.
SAP_STRUCT(sap_extent)
struct sap_extent {
    double lower[3];
    double upper[3];
};

// The parts of a triangle on both sides of a plane.
SAP_STRUCT(sap_halves)
struct sap_halves {
    bool has_left;
    bool has_right;
    sap_mesh_box left;
    sap_mesh_box right;
};

SAP_FN sap_polygon sap_polygon_of(sap_triangle triangle) {
    sap_polygon p;
    p.count = 3;
    p.corner[0][0] = triangle.a.x;
    p.corner[0][1] = triangle.a.y;
    p.corner[0][2] = triangle.a.z;
    p.corner[1][0] = triangle.b.x;
    p.corner[1][1] = triangle.b.y;
    p.corner[1][2] = triangle.b.z;
    p.corner[2][0] = triangle.c.x;
    p.corner[2][1] = triangle.c.y;
    p.corner[2][2] = triangle.c.z;
    return p;
}

SAP_FN sap_extent sap_extent_none(void) {
    sap_extent e;
    for (int k = 0; k < 3; ++k) {
        e.lower[k] = sap_float_of_bits(0x7f800000u);
        e.upper[k] = sap_float_of_bits(0xff800000u);
    }
    return e;
}

SAP_FN sap_extent sap_extent_with(sap_extent e, double x, int axis) {
    e.lower[axis] = x < e.lower[axis] ? x : e.lower[axis];
    e.upper[axis] = x > e.upper[axis] ? x : e.upper[axis];
    return e;
}

SAP_FN sap_extent sap_extent_with_corner(sap_extent e, sap_polygon p, int corner) {
    for (int k = 0; k < 3; ++k) e = sap_extent_with(e, p.corner[corner][k], k);
    return e;
}

// The coordinate where the edge from u to w meets a plane at the distances `from_u` and `from_w`, which have different
// signs. Along the plane's own axis callers use the plane instead.
SAP_FN double sap_edge_point(double u, double w, double from_u, double from_w) {
    return u + (from_u / (from_u - from_w)) * (w - u);
}

// Sutherland and Hodgman 1974: keeps what lies below the plane (sign 1) or above it (sign -1).
SAP_FN sap_polygon sap_polygon_cut(sap_polygon from, int axis, double plane, double sign) {
    sap_polygon to;
    to.count = 0;
    for (int i = 0; i < from.count; ++i) {
        int last = i == 0 ? from.count - 1 : i - 1;
        double du = (from.corner[last][axis] - plane) * sign;
        double dw = (from.corner[i][axis] - plane) * sign;
        if ((du > 0.0) != (dw > 0.0)) {
            SAP_ASSERT(to.count < SAP_POLYGON);
            for (int k = 0; k < 3; ++k)
                to.corner[to.count][k] =
                    k == axis ? plane : sap_edge_point(from.corner[last][k], from.corner[i][k], du, dw);
            to.count = to.count + 1;
        }
        if (!(dw > 0.0)) {
            SAP_ASSERT(to.count < SAP_POLYGON);
            for (int k = 0; k < 3; ++k) to.corner[to.count][k] = from.corner[i][k];
            to.count = to.count + 1;
        }
    }
    return to;
}

// The bounds of what lies below the plane (sign 1) or above it (sign -1), the plane included.
SAP_FN sap_extent sap_polygon_side(sap_polygon p, int axis, double plane, double sign) {
    sap_extent e = sap_extent_none();
    for (int i = 0; i < p.count; ++i) {
        int last = i == 0 ? p.count - 1 : i - 1;
        double du = p.corner[last][axis] - plane;
        double dw = p.corner[i][axis] - plane;
        if ((du < 0.0 && dw > 0.0) || (du > 0.0 && dw < 0.0))
            for (int k = 0; k < 3; ++k)
                e = sap_extent_with(e, k == axis ? plane : sap_edge_point(p.corner[last][k], p.corner[i][k], du, dw),
                                    k);
        if (dw * sign <= 0.0) e = sap_extent_with_corner(e, p, i);
    }
    return e;
}

// The next float, up or down.
SAP_FN float sap_next_float(float x, bool is_up) {
    SAP_BITS bits = sap_bits_of_float(x);
    if (x == 0.0f) return sap_float_of_bits(is_up ? 1u : 0x80000001u);
    bool is_positive = (bits >> 31) == 0u;
    return sap_float_of_bits(is_positive == is_up ? bits + 1u : bits - 1u);
}

SAP_FN float sap_round_down(double x) {
    float f = SAP_TO_FLOAT(x);
    double back = f;
    return back > x ? sap_next_float(f, false) : f;
}

SAP_FN float sap_round_up(double x) {
    float f = SAP_TO_FLOAT(x);
    double back = f;
    return back < x ? sap_next_float(f, true) : f;
}

// An extent rounded outward and limited to the part's bounds; lower > upper along an axis if it is empty. -0 becomes 0,
// so that the order in which points are added does not matter.
SAP_FN sap_mesh_box sap_extent_within(sap_extent e, sap_mesh_box part) {
    sap_mesh_box box;
    for (int k = 0; k < 3; ++k) {
        float lower = sap_round_down(e.lower[k]) + 0.0f;
        float upper = sap_round_up(e.upper[k]) + 0.0f;
        box.lower[k] = lower > part.lower[k] ? lower : part.lower[k];
        box.upper[k] = upper < part.upper[k] ? upper : part.upper[k];
    }
    return box;
}

SAP_FN bool sap_box_is_nonempty(sap_mesh_box box) {
    return box.lower[0] <= box.upper[0] && box.lower[1] <= box.upper[1] && box.lower[2] <= box.upper[2];
}

// The part's own bounds cut by the plane, for the case that rounding leaves nothing of the polygon.
SAP_FN sap_mesh_box sap_box_below(sap_mesh_box part, int axis, float plane) {
    part.upper[axis] = plane;
    return part;
}
SAP_FN sap_mesh_box sap_box_above(sap_mesh_box part, int axis, float plane) {
    part.lower[axis] = plane;
    return part;
}

// The sides that a triangle's part reaches, and its bounds there. The triangle is clipped to the part's bounds first.
SAP_FN sap_halves sap_clip_exactly(sap_triangle triangle, sap_mesh_box part, int axis, float plane) {
    sap_halves halves;
    sap_polygon p = sap_polygon_of(triangle);
    sap_extent whole = sap_extent_none();
    for (int i = 0; i < 3; ++i) whole = sap_extent_with_corner(whole, p, i);
    for (int k = 0; k < 3; ++k) {
        if (whole.lower[k] < part.lower[k]) p = sap_polygon_cut(p, k, part.lower[k], -1.0);
        if (whole.upper[k] > part.upper[k]) p = sap_polygon_cut(p, k, part.upper[k], 1.0);
    }
    sap_extent below = sap_polygon_side(p, axis, plane, 1.0);
    sap_extent above = sap_polygon_side(p, axis, plane, -1.0);
    halves.has_left = below.lower[0] <= below.upper[0];
    halves.has_right = above.lower[0] <= above.upper[0];
    if (!halves.has_left && !halves.has_right) { // rounding left nothing on either side
        halves.has_left = true;
        halves.has_right = true;
    }
    halves.left = sap_extent_within(below, part);
    halves.right = sap_extent_within(above, part);
    if (!sap_box_is_nonempty(halves.left)) halves.left = sap_box_below(part, axis, plane);
    if (!sap_box_is_nonempty(halves.right)) halves.right = sap_box_above(part, axis, plane);
    return halves;
}

// The cheap clip: cuts the whole triangle by the plane only and intersects the bounds with the part's. After cuts
// across two axes the result may be too large, never too small.
SAP_FN sap_halves sap_clip_cheaply(sap_triangle triangle, sap_mesh_box part, int axis, float plane) {
    sap_halves halves;
    sap_polygon p = sap_polygon_of(triangle);
    halves.left = sap_extent_within(sap_polygon_side(p, axis, plane, 1.0), part);
    halves.right = sap_extent_within(sap_polygon_side(p, axis, plane, -1.0), part);
    halves.has_left = sap_box_is_nonempty(halves.left);
    halves.has_right = sap_box_is_nonempty(halves.right);
    if (!halves.has_left && !halves.has_right) { // rounding left nothing on either side
        halves.has_left = true;
        halves.has_right = true;
        halves.left = sap_box_below(part, axis, plane);
        halves.right = sap_box_above(part, axis, plane);
    }
    return halves;
}
