// A ray as an instance sees it, and the order of hits. Shared text of C and CUDA: it computes in double precision, which
// shaders lack.
#ifndef SAPWOOD_INSTANCE_MOVED_H
#define SAPWOOD_INSTANCE_MOVED_H

#include "instance/layout.h"
#include "math/dialect.h"

// `inverse` goes from the world to the mesh. sapwood/instances.h states each operation.
SAP_FN sap_ray sap_ray_moved(const double* inverse, sap_ray ray, float t_max) {
    const float *o = ray.origin, *d = ray.direction;
    sap_ray moved;
    SAP_UNROLL
    for (int r = 0; r < 3; r++) {
        const double* w = inverse + 4 * r;
        moved.origin[r] = (float)(((w[0] * (double)o[0] + w[1] * (double)o[1]) + w[2] * (double)o[2]) + w[3]);
        moved.direction[r] = (float)((w[0] * (double)d[0] + w[1] * (double)d[1]) + w[2] * (double)d[2]);
    }
    moved.t_min = ray.t_min;
    moved.t_max = t_max;
    return moved;
}

// 1 / a component of a direction, for boxes; NaN where a float hardly has it: then the axis rules out no box.
SAP_FN float sap_inverse_for_boxes(float component) {
    const float d = component + 0.0f, size = fabsf(d); // -0 becomes 0
    return size == 0.0f || (size > 0x1p-100f && size < 0x1p100f) ? 1 / d : NAN;
}

SAP_FN bool sap_instance_hit_precedes(const sap_instance_hit* a, const sap_instance_hit* b) {
    if (a->t != b->t) return a->t < b->t;
    return a->instance != b->instance ? a->instance < b->instance : a->triangle < b->triangle;
}

// Inserts a hit into a row of `count`, ascending and at most `limit` long, unless it is there already: a triangle may be
// hit in several leaves. Returns the new count.
SAP_FN int32_t sap_instance_hits_insert(sap_instance_hit* row, int32_t count, int32_t limit, sap_instance_hit hit) {
    SAP_ASSERT(count >= 0 && count <= limit);
    int32_t at = count;
    while (at > 0 && sap_instance_hit_precedes(&hit, &row[at - 1])) at--;
    const bool is_known = at > 0 && !sap_instance_hit_precedes(&row[at - 1], &hit);
    if (is_known || at >= limit) return count;
    if (count == limit) count--;
    for (int32_t i = count; i > at; i--) row[i] = row[i - 1];
    row[at] = hit;
    return count + 1;
}

// A hit with its triangle counted through all instances, of which `before` are those before the hit's own.
SAP_FN sap_hit sap_hit_numbered(const sap_instance_hit* hit, int64_t before) {
    sap_hit numbered;
    numbered.t = hit->t;
    numbered.u = hit->u;
    numbered.v = hit->v;
    numbered.triangle = hit->triangle < 0 ? -1 : (int32_t)(before + hit->triangle);
    return numbered;
}

#endif
