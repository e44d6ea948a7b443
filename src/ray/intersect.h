// Rays against triangles and planes. Shared text; needs the accessors (mesh/access.h in C and CUDA).
//
// Triangles are tested by the watertight algorithm of Woop, Benthin and Wald (2013): the triangle is translated so that
// the ray starts at the origin, and sheared so that the ray is an axis; three edge functions in two dimensions remain.
// Triangles that share an edge compute the same value for it except for the sign, so that no ray passes between them.
//
// Planes of the tree are met earlier or later by a margin that covers the rounding of planes, of the clipping that
// built the tree, and of the sheared triangles: a walk visits every leaf in which the test may find a hit.

#define SAP_FLOAT_MAX 3.402823466e+38f

#ifdef GL_ES // C and CUDA have these from math/vector.h
float sap_magnitude(float x) { return x < 0.0 ? -x : x; }

float sap_largest_magnitude(sap_vector v) {
    float x = sap_magnitude(v.x);
    float y = sap_magnitude(v.y);
    float z = sap_magnitude(v.z);
    float largest = x > y ? x : y;
    return largest > z ? largest : z;
}
#endif

#ifndef SAP_PICK
#define SAP_PICK(v, axis) ((axis) == 0 ? (v).x : (axis) == 1 ? (v).y : (v).z)
#endif
SAP_FN float sap_pick(sap_vector v, int axis) {
    SAP_ASSERT(axis >= 0 && axis < 3);
    return SAP_PICK(v, axis);
}

SAP_FN bool sap_is_finite(sap_vector v) {
    return sap_magnitude(v.x) <= SAP_FLOAT_MAX && sap_magnitude(v.y) <= SAP_FLOAT_MAX &&
           sap_magnitude(v.z) <= SAP_FLOAT_MAX;
}

// The distance by which planes are moved, for coordinates of a magnitude.
SAP_FN float sap_margin(float magnitude) { return magnitude * 9.5367431640625e-07f; } // 2^-20

SAP_STRUCT(sap_prepared_ray)
struct sap_prepared_ray {
    bool is_ray; // false: it hits nothing
    sap_vector origin;
    sap_vector inverse; // 1 / direction
    sap_vector early;   // the origin moved along each axis, so that planes are met too early
    sap_vector late;
    int axis_x; // the axes that are x, y, z once the ray is sheared: z is the longest of the direction
    int axis_y;
    int axis_z;
    float shear_x;
    float shear_y;
    float shear_z;
    float t_min;
    float t_max;
};

#ifdef SAP_RAY_IS_GLOBAL
sap_prepared_ray ray; // so SAP_RAY is empty
#endif

SAP_FN bool sap_is_backward(SAP_RAY_PARAM int axis) { return sap_pick(ray.inverse, axis) < 0.0f; }

// magnitude: the largest coordinate of the tree's box.
SAP_FN sap_prepared_ray sap_ray_prepare(sap_vector origin, sap_vector direction, float t_min, float t_max,
                                        float magnitude) {
    sap_prepared_ray ray;
    sap_vector d;
    d.x = sap_without_sign_of_zero(direction.x);
    d.y = sap_without_sign_of_zero(direction.y);
    d.z = sap_without_sign_of_zero(direction.z);
    bool is_long = sap_largest_magnitude(d) > 0.0f;
    ray.is_ray =
        sap_is_finite(origin) && sap_is_finite(d) && is_long && sap_magnitude(t_min) <= SAP_FLOAT_MAX && t_min <= t_max;
    ray.axis_z = sap_magnitude(d.x) > sap_magnitude(d.y) ? 0 : 1;
    if (!(sap_magnitude(sap_pick(d, ray.axis_z)) > sap_magnitude(d.z))) ray.axis_z = 2;
    bool is_swapped = sap_pick(d, ray.axis_z) < 0.0f;
    int next = ray.axis_z == 2 ? 0 : ray.axis_z + 1;
    int last = next == 2 ? 0 : next + 1;
    ray.axis_x = is_swapped ? last : next;
    ray.axis_y = is_swapped ? next : last;
    SAP_ASSERT(ray.axis_x + ray.axis_y + ray.axis_z == 3 && ray.axis_x != ray.axis_y);
    float along = sap_pick(d, ray.axis_z);
    ray.shear_x = sap_quotient(sap_pick(d, ray.axis_x), along);
    ray.shear_y = sap_quotient(sap_pick(d, ray.axis_y), along);
    ray.shear_z = sap_quotient(1.0f, along);
    ray.origin = origin;
    ray.inverse.x = sap_quotient(1.0f, d.x);
    ray.inverse.y = sap_quotient(1.0f, d.y);
    ray.inverse.z = sap_quotient(1.0f, d.z);
    float margin = sap_margin(magnitude + sap_largest_magnitude(origin));
    ray.early.x = d.x < 0.0f ? origin.x - margin : origin.x + margin;
    ray.early.y = d.y < 0.0f ? origin.y - margin : origin.y + margin;
    ray.early.z = d.z < 0.0f ? origin.z - margin : origin.z + margin;
    ray.late.x = d.x < 0.0f ? origin.x + margin : origin.x - margin;
    ray.late.y = d.y < 0.0f ? origin.y + margin : origin.y - margin;
    ray.late.z = d.z < 0.0f ? origin.z + margin : origin.z - margin;
    ray.t_min = t_min;
    ray.t_max = t_max < SAP_FLOAT_MAX ? t_max : SAP_FLOAT_MAX; // a hit at infinity is none
    return ray;
}

// When a plane is met: not later than `early`, not before `late`. NaN: the ray runs within it.
SAP_FN float sap_plane_early(SAP_RAY_PARAM int axis, float plane) {
    return (plane - sap_pick(ray.early, axis)) * sap_pick(ray.inverse, axis);
}
SAP_FN float sap_plane_late(SAP_RAY_PARAM int axis, float plane) {
    return (plane - sap_pick(ray.late, axis)) * sap_pick(ray.inverse, axis);
}

// The part of a ray within a box; empty if from > to.
SAP_STRUCT(sap_span)
struct sap_span {
    float from;
    float to;
};

SAP_FN sap_span sap_ray_clip(SAP_RAY_PARAM sap_vector lower, sap_vector upper) {
    sap_span span;
    span.from = ray.t_min;
    span.to = ray.t_max;
    for (int axis = 0; axis < 3; ++axis) {
        bool is_backward = sap_is_backward(SAP_RAY axis);
        float enters = sap_plane_early(SAP_RAY axis, is_backward ? sap_pick(upper, axis) : sap_pick(lower, axis));
        float leaves = sap_plane_late(SAP_RAY axis, is_backward ? sap_pick(lower, axis) : sap_pick(upper, axis));
        span.from = enters > span.from ? enters : span.from;
        span.to = leaves < span.to ? leaves : span.to;
    }
    return span;
}

// A triangle in the ray's own space, and its edge functions.
SAP_STRUCT(sap_sheared)
struct sap_sheared {
    sap_vector a; // z not yet scaled
    sap_vector b;
    sap_vector c;
    float of_a; // the edge function of the edge opposite a: the weight of a
    float of_b;
    float of_c;
};

SAP_FN sap_vector sap_shear(SAP_RAY_PARAM sap_vector corner) {
    sap_vector v;
    v.z = sap_pick(corner, ray.axis_z) - sap_pick(ray.origin, ray.axis_z);
    v.x = (sap_pick(corner, ray.axis_x) - sap_pick(ray.origin, ray.axis_x)) - sap_product(ray.shear_x, v.z);
    v.y = (sap_pick(corner, ray.axis_y) - sap_pick(ray.origin, ray.axis_y)) - sap_product(ray.shear_y, v.z);
    return v;
}

SAP_FN sap_sheared sap_triangle_shear(SAP_RAY_PARAM sap_triangle triangle) {
    sap_sheared s;
    s.a = sap_shear(SAP_RAY triangle.a);
    s.b = sap_shear(SAP_RAY triangle.b);
    s.c = sap_shear(SAP_RAY triangle.c);
    s.of_a = sap_product(s.c.x, s.b.y) - sap_product(s.c.y, s.b.x);
    s.of_b = sap_product(s.a.x, s.c.y) - sap_product(s.a.y, s.c.x);
    s.of_c = sap_product(s.b.x, s.a.y) - sap_product(s.b.y, s.a.x);
    if (s.of_a == 0.0f || s.of_b == 0.0f || s.of_c == 0.0f) {
        s.of_a = sap_product_difference(s.c.x, s.b.y, s.c.y, s.b.x);
        s.of_b = sap_product_difference(s.a.x, s.c.y, s.a.y, s.c.x);
        s.of_c = sap_product_difference(s.b.x, s.a.y, s.b.y, s.a.x);
    }
    return s;
}

// Whether the ray's line passes beside a triangle with these edge functions.
SAP_FN bool sap_is_beside(float of_a, float of_b, float of_c) {
    bool is_left = of_a < 0.0f || of_b < 0.0f || of_c < 0.0f;
    bool is_right = of_a > 0.0f || of_b > 0.0f || of_c > 0.0f;
    return is_left && is_right;
}

// Where a ray's line meets a triangle.
SAP_STRUCT(sap_crossing)
struct sap_crossing {
    bool is_hit; // it does, within the ray's interval
    float t;
    float u;
    float v;
};

SAP_FN sap_crossing sap_sheared_cross(SAP_RAY_PARAM sap_sheared s) {
    sap_crossing hit;
    float sum = (s.of_a + s.of_b) + s.of_c;
    float scaled = (sap_product(s.of_a, ray.shear_z * s.a.z) + sap_product(s.of_b, ray.shear_z * s.b.z)) +
                   sap_product(s.of_c, ray.shear_z * s.c.z);
    hit.t = sap_quotient(scaled, sum);
    hit.u = sap_quotient(s.of_b, sum);
    hit.v = sap_quotient(s.of_c, sum);
    hit.is_hit = !sap_is_beside(s.of_a, s.of_b, s.of_c) && sum != 0.0f && hit.t >= ray.t_min && hit.t <= ray.t_max;
    return hit;
}

SAP_FN sap_crossing sap_triangle_cross(SAP_RAY_PARAM sap_triangle triangle) {
    return sap_sheared_cross(SAP_RAY sap_triangle_shear(SAP_RAY triangle));
}
