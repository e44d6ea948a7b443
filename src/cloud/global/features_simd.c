// Which feature is most like another: all of them are looked at. Sums of bins in 16 dimensions, which a tree can search,
// give the wrong one far more often.
#include "cloud/global/global.h"

#if SAP_REAL_BITS == 32
#include "math/simd.h"

enum { TILE = 16, VECTORS = TILE / LANES }; // others that are looked at together

// The squared distances of a tile, number by number.
INLINE void measure_tile(const float* feature, const float* others, int64_t padded, vreal sums[VECTORS]) {
    for (int v = 0; v < VECTORS; v++) sums[v] = v_set(0);
    for (int b = 0; b < SAP_FEATURE_NUMBERS; b++) {
        const vreal own = v_set(feature[b]);
        for (int v = 0; v < VECTORS; v++) {
            const vreal d = v_sub(own, v_load(others + b * padded + v * LANES));
            sums[v] = v_add(sums[v], v_mul(d, d));
        }
    }
}

static void nearest(const float* features, int64_t count, const float* others, int64_t padded, int32_t* ids,
                    float* distance2) {
    for (int64_t i = 0; i < count; i++) {
        ids[i] = -1;
        distance2[i] = INFINITY;
    }
    // A tile at a time stays in the nearest cache while all features look at it.
    for (int64_t from = 0; from < padded; from += TILE)
        for (int64_t i = 0; i < count; i++) {
            vreal sums[VECTORS];
            float values[TILE];
            uint32_t less = 0;
            measure_tile(features + SAP_FEATURE_NUMBERS * i, others + from, padded, sums);
            for (int v = 0; v < VECTORS; v++) less |= v_less(sums[v], v_set(distance2[i]));
            if (!less) continue;
            for (int v = 0; v < VECTORS; v++) v_store(values + v * LANES, sums[v]);
            for (int l = 0; l < TILE; l++)
                if (values[l] < distance2[i]) {
                    distance2[i] = values[l];
                    ids[i] = (int32_t)(from + l);
                }
        }
}

const sap_feature_kernels SAP_KERNEL_OF_FLOAT(feature_kernels) = {nearest};
#endif
