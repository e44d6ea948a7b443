// Disjoint sets of points (union-find), each point with a sign relative to the set's first point.
#ifndef SAPWOOD_CLOUD_UNION_H
#define SAPWOOD_CLOUD_UNION_H

#include "base/assert.h"
#include <stdbool.h>
#include <stdint.h>

// links[i]: the point that i hangs from, times two, and 1 if i has the other sign. A set's root hangs from itself.
static inline uint32_t sap_union_alone(uint32_t point) { return point << 1; }

// The root of a point, times two, and 1 if the point has the other sign. Paths are halved on the way.
static inline uint32_t sap_union_find(uint32_t* links, uint32_t point) {
    uint32_t sign = 0;
    for (;;) {
        const uint32_t link = links[point], above = links[link >> 1];
        if (link >> 1 == point) return point << 1 | sign;
        links[point] = above ^ (link & 1);
        sign ^= (above ^ link) & 1;
        point = above >> 1;
    }
}

// Joins the sets of two points, which have opposite signs if `differ`. False if they are one set. The smaller root stays.
static inline bool sap_union_join(uint32_t* links, uint32_t a, uint32_t b, bool differ) {
    const uint32_t root_a = sap_union_find(links, a), root_b = sap_union_find(links, b);
    const uint32_t sign = (root_a ^ root_b ^ (uint32_t)differ) & 1;
    if (root_a >> 1 == root_b >> 1) return false;
    const bool a_stays = root_a < root_b;
    links[(a_stays ? root_b : root_a) >> 1] = ((a_stays ? root_a : root_b) & ~UINT32_C(1)) | sign;
    return true;
}

#endif
