// The order in which points of a Poisson sample are tried, the same on every processor.
#ifndef SAPWOOD_CLOUD_POISSON_H
#define SAPWOOD_CLOUD_POISSON_H

#include "math/dialect.h"

// SplitMix64's finish of a seed and an id. No two ids have the same.
SAP_FN uint64_t sap_poisson_key(uint64_t seed, uint32_t id) {
    uint64_t x = (seed * 0x9e3779b97f4a7c15u + id) * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

#endif
