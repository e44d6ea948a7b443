// Well spread pairs of numbers: Sobol's first two dimensions, shuffled and scrambled by hashes (Burley 2020).
#ifndef SAPWOOD_RENDER_SAMPLE_H
#define SAPWOOD_RENDER_SAMPLE_H

#include "math/dialect.h"

typedef struct sap_pair {
    float x, y; // 0 … 1, 1 excluded
} sap_pair;

SAP_FN uint32_t sap_hash(uint32_t x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

SAP_FN uint32_t sap_reverse_bits(uint32_t x) {
#ifdef __CUDA_ARCH__
    return __brev(x);
#else
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    x = (x >> 8 & 0x00ff00ffu) | (x & 0x00ff00ffu) << 8;
    return x >> 16 | x << 16;
#endif
}

// Owen's scrambling of a number whose bits are reversed: each bit is flipped by a hash of those below it.
SAP_FN uint32_t sap_scramble_reversed(uint32_t x, uint32_t seed) {
    x += seed;
    x ^= x * 0x6c50b47cu;
    x ^= x * 0xb82f1e52u;
    x ^= x * 0xc7afe638u;
    return x ^ x * 0x8d22f6e6u;
}

// Sobol's second dimension, its bits reversed. (The first, reversed, is the index itself.) Direction k holds the
// binomials of k modulo 2, so bit j is the sum of all bits k of the index whose number has all bits of j (Lucas).
SAP_FN uint32_t sap_sobol_second_reversed(uint32_t index) {
    index ^= index >> 1 & 0x55555555u;
    index ^= index >> 2 & 0x33333333u;
    index ^= index >> 4 & 0x0f0f0f0fu;
    index ^= index >> 8 & 0x00ff00ffu;
    return index ^ index >> 16;
}

SAP_FN float sap_fraction(uint32_t bits) { return (float)(bits >> 8) * 0x1p-24f; }

// The pair number `sample` of the sequence for one pixel and one purpose.
SAP_FN sap_pair sap_sample(uint32_t pixel, uint32_t sample, uint32_t purpose) {
    uint32_t seed = sap_hash(pixel ^ sap_hash(purpose));
    uint32_t index = sap_reverse_bits(sap_scramble_reversed(sap_reverse_bits(sample), seed));
    uint32_t first = sap_scramble_reversed(index, sap_hash(seed ^ 0x68bc21ebu));
    uint32_t second = sap_scramble_reversed(sap_sobol_second_reversed(index), sap_hash(seed ^ 0x02e5be93u));
    sap_pair pair;
    pair.x = sap_fraction(sap_reverse_bits(first));
    pair.y = sap_fraction(sap_reverse_bits(second));
    return pair;
}

#endif
