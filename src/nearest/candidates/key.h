// A point found: ordered by (squared distance, id).
#ifndef SAPWOOD_NEAREST_CANDIDATES_KEY_H
#define SAPWOOD_NEAREST_CANDIDATES_KEY_H

#include "math/simd.h"

#define NOBODY INT32_MAX // above every id: the id of a place that no point has taken yet

#if SAP_REAL_BITS == 32
// The distance's bits above, the id below: non-negative floats are ordered as their bits are.
typedef uint64_t key;
INLINE key make_key(real distance, int32_t id) {
    uint32_t bits;
    memcpy(&bits, &distance, sizeof bits);
    return (uint64_t)bits << 32 | (uint32_t)id;
}
INLINE bool key_less(key a, key b) { return a < b; }
INLINE int32_t key_id(key k) { return (int32_t)(uint32_t)k; }
INLINE real key_distance(key k) {
    uint32_t bits = (uint32_t)(k >> 32);
    real distance;
    memcpy(&distance, &bits, sizeof distance);
    return distance;
}
#else
typedef struct key {
    real distance;
    int64_t id; // as wide as the distance: both fill a lane
} key;
INLINE key make_key(real distance, int32_t id) { return (key){distance, id}; }
INLINE bool key_less(key a, key b) { return a.distance < b.distance || (a.distance == b.distance && a.id < b.id); }
INLINE int32_t key_id(key k) { return (int32_t)k.id; }
INLINE real key_distance(key k) { return k.distance; }
#endif

#endif
