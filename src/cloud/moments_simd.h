// Sums over the neighbours of a point, for the *_simd.c files of clouds. A sum's lanes are x, y, z of one neighbour after
// another, so that each is added in the order of the row.
#ifndef SAPWOOD_CLOUD_MOMENTS_SIMD_H
#define SAPWOOD_CLOUD_MOMENTS_SIMD_H

#include "cloud/cloud.h"
#include "math/simd.h"

typedef double four __attribute__((vector_size(32)));
typedef real four_real __attribute__((vector_size(4 * sizeof(real))));
typedef int64_t four_places __attribute__((vector_size(32)));

#ifdef __clang__
#define NEXT_AXES(v) __builtin_shufflevector(v, v, 1, 2, 0, 3)
#else
#define NEXT_AXES(v) __builtin_shuffle(v, (four_places){1, 2, 0, 3})
#endif

// The weighted sums of 1, d and d d^T, d being the difference to the point itself: xx, yy, zz; xy, yz, zx.
typedef struct moments {
    double weight;
    four first, squares, products;
} moments;

// A point's coordinates as doubles. By way of memory, since how functions give wide vectors differs between machines.
INLINE void load_point(const real* points, int32_t id, four* point) {
#if SAP_SIMD > 1 && SAP_REAL_BITS == 32
    const __m256d p = _mm256_cvtps_pd(_mm_loadu_ps(points + 4 * (int64_t)id)); // compilers convert halves
    memcpy(point, &p, sizeof p);
#else
    four_real p;
    memcpy(&p, points + 4 * (int64_t)id, sizeof p);
    *point = __builtin_convertvector(p, four);
#endif
}

enum { FETCHED = 64 }; // neighbours that are asked for: those of a few points find room in the first cache

// Asks for the neighbours of a point of the rows some time before they are added up: they lie by their ids, anywhere.
INLINE void fetch_neighbors(const real* points, const sap_cloud_rows* rows, int64_t i) {
    const int32_t* ids = rows->neighbors + rows->starts[i];
    for (int64_t j = 0; j < rows->found[i] && j < FETCHED; j++) __builtin_prefetch(points + 4 * (int64_t)ids[j]);
}

INLINE bool is_weighted(const sap_neighborhoods* near) { return near->weights || near->falloff != SAP_FALLOFF_NONE; }

INLINE double weight_of(const sap_neighborhoods* near, int32_t id, double distance2) {
    double weight = near->weights ? (double)near->weights[id] : 1.0;
    if (near->falloff == SAP_FALLOFF_BIWEIGHT) {
        const double part = 1 - distance2 * (1 / (near->radius * near->radius));
        weight = part > 0 ? weight * (part * part) : 0.0;
    }
    return weight;
}

// The sums over the neighbours of point i of the rows, which lies at `own`, with differences scaled.
INLINE void add_moments(const sap_neighborhoods* near, const real* points, const sap_cloud_rows* rows, int64_t i,
                        const four* own, const bool weighted, double scale, moments* m) {
    const int32_t* ids = rows->neighbors + rows->starts[i];
    const real* distance2 = (const real*)rows->distance2 + rows->starts[i];
    const four from = *own;
    four d, first = {0, 0, 0, 0}, squares = {0, 0, 0, 0}, products = {0, 0, 0, 0};
    double weight = 0;
    for (int64_t j = 0; j < rows->found[i]; j++) {
        load_point(points, ids[j], &d);
        d = (d - from) * scale;
        four term = d;
        if (weighted) {
            const double w = weight_of(near, ids[j], (double)distance2[j]);
            weight += w;
            term = d * w;
        }
        first += term;
        squares += term * d;
        products += term * NEXT_AXES(d);
    }
    m->weight = weighted ? weight : (double)rows->found[i];
    m->first = first;
    m->squares = squares;
    m->products = products;
}

#endif
