// Rays: declarations that the room's files share.
#ifndef SAPWOOD_RAY_RAY_H
#define SAPWOOD_RAY_RAY_H

#include "math/dialect.h"
#include "mesh/layout.h"
#include "ray/ops.h"

enum {
    SAP_RAY_BLOCK = 64, // rays that are examined together for coherence
    SAP_RAY_FEW = 8     // calls with fewer rays trace them one by one
};

// Rays for one thread: a part of a job, whose arrays begin where the part begins.
typedef struct sap_ray_run {
    const sap_mesh_tree* tree;
    sap_ray_job job;
    float magnitude; // the largest coordinate of the tree's box
} sap_ray_run;

// A ray to be traced later: its key in an order that brings similar rays together, and its number in the run.
typedef struct sap_ray_key {
    uint32_t order, ray;
} sap_ray_key;

// Keys hold, from their highest bit down: the region of the origin, the octant of the direction, the cell of the origin
// in its region, the longest axis of the direction, and a cell of the direction. Rays of a region and an octant make
// packets together: those of a cell would often be too few to fill one. Regions come first, so that what packets visit
// stays in the cache.
enum {
    SAP_RAY_REGION_BITS = 3,    // an axis
    SAP_RAY_ORIGIN_BITS = 6,    // an axis: those of the region and those of the cell in it
    SAP_RAY_DIRECTION_BITS = 2, // an axis
    SAP_RAY_BELOW_OCTANT = 3 * (SAP_RAY_ORIGIN_BITS - SAP_RAY_REGION_BITS) + 2 + 2 * SAP_RAY_DIRECTION_BITS,
    SAP_RAY_ORDER_BITS = 3 * SAP_RAY_ORIGIN_BITS + 3 + 2 + 2 * SAP_RAY_DIRECTION_BITS
};

// Bit i of 6 goes to bit 3*i: three such numbers make a Morton code.
static inline uint32_t sap_ray_spread(uint32_t x) {
    x = (x | x << 8) & 0x300f;
    x = (x | x << 4) & 0x30c3;
    return (x | x << 2) & 0x9249;
}

// The order of a ray from the cell of its origin (x, y, z), the octant and the longest axis of its direction, and the
// cell of the direction (u, v).
static inline uint32_t sap_ray_order(uint32_t x, uint32_t y, uint32_t z, uint32_t octant, uint32_t axis, uint32_t u,
                                     uint32_t v) {
    enum { CELL = 3 * (SAP_RAY_ORIGIN_BITS - SAP_RAY_REGION_BITS), BELOW_CELL = SAP_RAY_BELOW_OCTANT - CELL };
    const uint32_t origin = sap_ray_spread(x) | sap_ray_spread(y) << 1 | sap_ray_spread(z) << 2;
    const uint32_t direction = ((u | u << 1) & 5) | ((v | v << 1) & 5) << 1;
    return ((origin >> CELL) << 3 | octant) << SAP_RAY_BELOW_OCTANT | (origin & ((1 << CELL) - 1)) << BELOW_CELL |
           axis << (2 * SAP_RAY_DIRECTION_BITS) | direction;
}

// The octant of a direction in the low three bits, above them its longest axis.
static inline uint32_t sap_ray_class(const sap_ray* ray) {
    const float* d = ray->direction;
    float x = __builtin_fabsf(d[0]), y = __builtin_fabsf(d[1]), z = __builtin_fabsf(d[2]);
    uint32_t axis = !(x > y);
    float longest = axis ? y : x;
    // Without branches: the class of a reflected ray is unpredictable.
    axis = longest > z ? axis : 2;
    return axis << 3 | (uint32_t)(d[0] < 0) | (uint32_t)(d[1] < 0) << 1 | (uint32_t)(d[2] < 0) << 2;
}

// The inner loops on the CPU, one set per instruction set.
typedef struct sap_ray_kernels {
    // One ray at a time.
    void (*few)(const sap_ray_run* run);
    // Traces rays [first, first + count) if they are coherent; else returns false. count is at most SAP_RAY_BLOCK.
    bool (*block)(const sap_ray_run* run, int64_t first, int count);
    // (optional) Answers those of rays [first, first + count) that do not meet the tree's box, writes keys of the others, and
    // returns how many these are.
    int64_t (*keys)(const sap_ray_run* run, int64_t first, int count, sap_ray_key* keys);
    // Rays in the order of their keys.
    void (*ordered)(const sap_ray_run* run, const sap_ray_key* keys, int64_t count);
} sap_ray_kernels;

// Inserts a hit into a row of `count` hits, ascending by (t, triangle) and at most `limit` long, unless it is there
// already: a triangle may be hit in several leaves. The row's hits lie `stride` apart. Returns the new count.
SAP_FN int32_t sap_hits_insert(sap_hit* row, int32_t stride, int32_t count, int32_t limit, sap_hit hit) {
    SAP_ASSERT(count >= 0 && count <= limit);
    int32_t i = count;
    for (; i > 0; i--) {
        const sap_hit* before = row + (i - 1) * stride;
        if (!(before->t > hit.t || (before->t == hit.t && before->triangle > hit.triangle))) break;
    }
    bool is_known = i > 0 && row[(i - 1) * stride].t == hit.t && row[(i - 1) * stride].triangle == hit.triangle;
    if (is_known || i >= limit) return count;
    if (count == limit) count--;
    for (int32_t j = count; j > i; j--) row[j * stride] = row[(j - 1) * stride];
    row[i * stride] = hit;
    return count + 1;
}

// The largest magnitude of a coordinate of a tree's box.
static inline float sap_mesh_magnitude(const sap_mesh_tree* tree) {
    float largest = 0;
    for (int k = 0; k < 3; k++) {
        float low = __builtin_fabsf(tree->shape.lower[k]), high = __builtin_fabsf(tree->shape.upper[k]);
        float both = low > high ? low : high;
        largest = both > largest ? both : largest;
    }
    return largest;
}

// ray/order_cpu.c: the key of a ray about a box, which has the number i; sorting keys ascending. `other` is as long as
// `keys`; the result is in the one of the two that is returned.
sap_ray_key sap_ray_key_of(const sap_ray* ray, const float lower[3], const float upper[3], uint32_t i);
sap_ray_key* sap_ray_keys_sort(sap_ray_key* keys, sap_ray_key* other, int64_t count);

#endif
