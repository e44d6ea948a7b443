// Whether points lie inside a closed mesh: the parity of the crossings of a ray with the surface. Text of C and CUDA;
// needs ray/intersect.h and SAP_MESH_STACK.
//
// For a ray that passes close to an edge, a vertex or the plane of a triangle, the count of crossings may be wrong: an
// edge belongs to two triangles. Such a ray is abandoned for one of another direction. A vertex has the same sheared
// coordinates in all triangles, so crossings away from edges are counted exactly.
#ifndef SAPWOOD_RAY_INSIDE_H
#define SAPWOOD_RAY_INSIDE_H

#include "ray/ray.h"

enum {
    SAP_CROSSINGS = 32, // most crossings that one search finds
    SAP_DIRECTIONS = 12
};

// Directions along which meshes rarely have edges.
SAP_FN sap_vector sap_inside_direction(int i) {
    const float all[SAP_DIRECTIONS][3] = {
        {0.7313f, 0.4127f, 0.5431f},   {-0.3571f, 0.8219f, 0.4443f},   {0.2917f, -0.5279f, 0.7977f},
        {-0.6131f, -0.3947f, 0.6843f}, {0.8699f, -0.2713f, -0.4121f},  {0.4391f, 0.6277f, -0.6428f},
        {-0.7919f, 0.3343f, -0.5111f}, {-0.2239f, -0.9371f, -0.2677f}, {0.5857f, -0.7457f, 0.3179f},
        {-0.1733f, 0.2477f, 0.9532f},  {0.9467f, 0.1931f, 0.2579f},    {-0.4817f, 0.1291f, -0.8668f}};
    SAP_ASSERT(i >= 0 && i < SAP_DIRECTIONS);
    return sap_vector_of(all[i]);
}

SAP_STRUCT(sap_crossings)
struct sap_crossings {
    sap_prepared_ray ray;
    sap_hit found[SAP_CROSSINGS]; // those after (t, triangle), ascending
    int count;
    float after_t;
    int after_triangle;
    bool strict;  // stop if the ray passes close to an edge
    bool touches; // the ray did so
};

// The sign of an edge function a*b - c*d: -1, 1, or 0 if it is uncertain.
SAP_FN int sap_sure_sign(float value, float ab, float cd) {
    float doubt = (sap_magnitude(ab) + sap_magnitude(cd)) * 9.5367431640625e-07f; // 2^-20
    return value > doubt ? 1 : value < -doubt ? -1 : 0;
}

// Whether it is uncertain if a ray crosses a triangle or misses it.
SAP_FN bool sap_is_touched(sap_sheared s) {
    int a = sap_sure_sign(s.of_a, s.c.x * s.b.y, s.c.y * s.b.x);
    int b = sap_sure_sign(s.of_b, s.a.x * s.c.y, s.a.y * s.c.x);
    int c = sap_sure_sign(s.of_c, s.b.x * s.a.y, s.b.y * s.a.x);
    bool missed = (a > 0 || b > 0 || c > 0) && (a < 0 || b < 0 || c < 0);
    return !missed && (a == 0 || b == 0 || c == 0);
}

SAP_FN void sap_cross_leaf(SAP_MESH_PARAM sap_crossings* c, sap_mesh_step leaf) {
    for (int i = 0; i < leaf.count && !c->touches; i++) {
        SAP_BITS place = sap_mesh_place_of(SAP_MESH leaf, i);
        sap_sheared s = sap_triangle_shear(c->ray, sap_mesh_triangle(SAP_MESH place));
        if (c->strict && sap_is_touched(s)) c->touches = true;
        sap_crossing crossing = sap_sheared_cross(c->ray, s);
        sap_hit hit;
        hit.t = crossing.t;
        hit.u = 0;
        hit.v = 0;
        hit.triangle = sap_mesh_id(SAP_MESH place);
        bool is_next = hit.t > c->after_t || (hit.t == c->after_t && hit.triangle > c->after_triangle);
        if (crossing.is_hit && is_next) c->count = sap_hits_insert(c->found, 1, c->count, SAP_CROSSINGS, hit);
    }
}

// Begins a search before the first crossing.
SAP_FN void sap_crossings_begin(sap_crossings* c, sap_prepared_ray ray, bool strict) {
    c->ray = ray;
    c->found[SAP_CROSSINGS - 1].t = 0; // read only once the list is full, which compilers do not see
    c->count = 0;
    c->after_t = -1;
    c->after_triangle = -1;
    c->strict = strict;
    c->touches = false;
}

// Finds the next crossings, in c->found.
SAP_FN void sap_next_crossings(SAP_MESH_PARAM sap_crossings* c) {
    sap_far_side waiting[SAP_MESH_STACK];
    int top = 1;
    waiting[0].node = 0u;
    waiting[0].span = sap_ray_clip(c->ray, sap_mesh_lower(mesh), sap_mesh_upper(mesh));
    c->count = 0;
    while (top && !c->touches) {
        top--;
        sap_far_side at = waiting[top];
        float last = c->count == SAP_CROSSINGS ? c->found[SAP_CROSSINGS - 1].t : at.span.to;
        at.span.to = last < at.span.to ? last : at.span.to;
        if (!(at.span.from <= at.span.to)) continue;
        sap_mesh_step step = sap_mesh_step_at(SAP_MESH at.node);
        while (!step.is_leaf) {
            bool is_backward = sap_is_backward(c->ray, step.axis);
            sap_far_side near_side = at;
            sap_far_side far_side = at;
            float early = sap_plane_early(c->ray, step.axis, step.split);
            float late = sap_plane_late(c->ray, step.axis, step.split);
            near_side.node = is_backward ? step.right : at.node + 1u;
            near_side.span.to = late < at.span.to ? late : at.span.to;
            far_side.node = is_backward ? at.node + 1u : step.right;
            far_side.span.from = early > at.span.from ? early : at.span.from;
            bool is_near = near_side.span.from <= near_side.span.to;
            bool is_far = far_side.span.from <= far_side.span.to;
            if (is_near && is_far) {
                SAP_ASSERT(top < SAP_MESH_STACK);
                waiting[top] = far_side;
                top++;
            }
            at = is_near ? near_side : far_side;
            step = sap_mesh_step_at(SAP_MESH at.node);
        }
        sap_cross_leaf(SAP_MESH c, step);
    }
}

// Whether a ray crosses the surface an odd number of times. *touches: the answer is uncertain.
SAP_FN bool sap_crosses_oddly(SAP_MESH_PARAM sap_prepared_ray ray, bool strict, bool* touches) {
    sap_crossings c;
    bool is_odd = false;
    sap_crossings_begin(&c, ray, strict);
    do {
        sap_next_crossings(SAP_MESH & c);
        is_odd = is_odd != ((c.count & 1) != 0);
        if (c.count) {
            c.after_t = c.found[c.count - 1].t;
            c.after_triangle = c.found[c.count - 1].triangle;
        }
    } while (c.count == SAP_CROSSINGS && !c.touches);
    *touches = c.touches;
    return is_odd;
}

// magnitude: the largest coordinate of the tree's box.
SAP_FN bool sap_is_inside(SAP_MESH_PARAM sap_vector point, float magnitude) {
    sap_vector lower = sap_mesh_lower(mesh);
    sap_vector upper = sap_mesh_upper(mesh);
    for (int axis = 0; axis < 3; axis++) {
        float x = sap_pick(point, axis);
        if (!(x >= sap_pick(lower, axis) && x <= sap_pick(upper, axis))) return false;
    }
    bool is_odd = false;
    bool touches = true;
    // After all directions the first one is taken again and its answer accepted.
    for (int i = 0; i <= SAP_DIRECTIONS && touches; i++) {
        sap_vector direction = sap_inside_direction(i % SAP_DIRECTIONS);
        sap_prepared_ray ray = sap_ray_prepare(point, direction, 0.0f, SAP_FLOAT_MAX, magnitude);
        is_odd = sap_crosses_oddly(SAP_MESH ray, i < SAP_DIRECTIONS, &touches);
    }
    return is_odd;
}

#endif
