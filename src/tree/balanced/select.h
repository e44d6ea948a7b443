// Exact selection: the value of a given rank among reals, and how many are smaller. Large arrays are narrowed between
// two ranks of a sorted sample (Floyd and Rivest 1975), small ones sorted whole by a bitonic network (Batcher 1968) in
// registers. The answer is exact, so it depends on neither the sample nor the vector width.
#ifndef SAPWOOD_TREE_BALANCED_SELECT_H
#define SAPWOOD_TREE_BALANCED_SELECT_H

#include "math/simd.h"

enum { NETWORK_ROWS = 16, NETWORK_MAX = NETWORK_ROWS * LANES, MOST_GUESSES = 24 };

INLINE void order_rows(vreal* a, vreal* b) {
    vreal low = v_min(*a, *b);
    *b = v_max(*a, *b);
    *a = low;
}

// The lanes whose number has this bit.
INLINE uint32_t lanes_with(int bit) {
    uint32_t mask = 0;
    for (int i = 0; i < LANES; i++)
        if (i & bit) mask |= 1u << i;
    return mask;
}

// Merges within columns by strides of rows below `from`.
INLINE void merge_rows(vreal* r, const int rows, int from) {
    for (int half = from; half; half /= 2)
#pragma GCC unroll 16
        for (int i = 0; i < rows; i++)
            if (!(i & half)) order_rows(&r[i], &r[i + half]);
}

// Sorts rows*LANES values; the value of rank e ends in row e % rows, lane e / rows, so that most comparators lie
// between registers. Each merge begins with a flip, hence every comparator puts the smaller value at the lower rank.
INLINE void sort_rows(vreal* r, const int rows) {
    for (int block = 2; block <= rows; block *= 2) {
#pragma GCC unroll 16
        for (int i = 0; i < rows; i++)
            if (!(i & (block / 2))) order_rows(&r[i], &r[i ^ (block - 1)]);
        merge_rows(r, rows, block / 4);
    }
    for (int lanes = 2; lanes <= LANES; lanes *= 2) {
        uint32_t upper = lanes_with(lanes / 2);
#pragma GCC unroll 16
        for (int i = 0; i < rows / 2; i++) {
            vreal a = r[i], b = r[rows - 1 - i];
            vreal far_a = v_exchange(a, lanes - 1), far_b = v_exchange(b, lanes - 1);
            r[i] = v_select(upper, v_max(a, far_b), v_min(a, far_b));
            r[rows - 1 - i] = v_select(upper, v_max(b, far_a), v_min(b, far_a));
        }
        for (int stride = lanes / 4; stride; stride /= 2) {
            upper = lanes_with(stride);
#pragma GCC unroll 16
            for (int i = 0; i < rows; i++) {
                vreal other = v_exchange(r[i], stride);
                r[i] = v_select(upper, v_max(r[i], other), v_min(r[i], other));
            }
        }
        merge_rows(r, rows, rows / 2);
    }
}

// Sorts `count` values, at most rows*LANES; place sorted_value finds the value of a rank. Unused ranks hold +infinity.
INLINE void sort_block(const real* values, int count, real* sorted, const int rows) {
    SAP_ASSERT(rows <= NETWORK_ROWS && count <= rows * LANES);
    vreal r[NETWORK_ROWS];
#pragma GCC unroll 16
    for (int i = 0; i < rows; i++) {
        int left = count - i * LANES;
        r[i] = left >= LANES ? v_load(values + i * LANES) : v_set(INFINITY);
        if (left > 0 && left < LANES) r[i] = v_select(lanes_below(left), v_load_part(values + i * LANES, left), r[i]);
    }
    sort_rows(r, rows);
#pragma GCC unroll 16
    for (int i = 0; i < rows; i++) v_store(sorted + i * LANES, r[i]);
}

INLINE real sorted_value(const real* sorted, int rank, int rows) {
    SAP_ASSERT(rank >= 0 && rank < rows * LANES);
    return sorted[rank % rows * LANES + rank / rows];
}

INLINE real select_rows(const real* values, int count, int rank, int64_t* less, const int rows) {
    real sorted[NETWORK_MAX];
    sort_block(values, count, sorted, rows);
    real found = sorted_value(sorted, rank, rows);
    int smaller = 0;
#pragma GCC unroll 16
    for (int i = 0; i < rows; i++) smaller += count_bits(v_less(v_load(sorted + i * LANES), v_set(found)));
    *less = smaller;
    return found;
}

// The value of rank `rank` among at most NETWORK_MAX values; *less of them are smaller.
static real select_small(const real* values, int count, int rank, int64_t* less) {
    if (count <= 4 * LANES) return select_rows(values, count, rank, less, 4);
    if (count <= 8 * LANES) return select_rows(values, count, rank, less, 8);
    return select_rows(values, count, rank, less, NETWORK_ROWS);
}

typedef struct bracket {
    real low, high;
} bracket;

// Keeps the values within [b.low, b.high] in `kept` (which may be `values`); returns how many, and how many lie below.
INLINE int64_t keep_between(const real* values, int64_t count, bracket b, real* kept, int64_t* below) {
    const vreal low = v_set(b.low), high = v_set(b.high);
    int64_t n = 0, under = 0, i = 0;
    for (; i + LANES <= count; i += LANES) {
        vreal x = v_load(values + i);
        uint32_t less = v_less(x, low), in = v_less_equal(x, high) & ~less;
        v_store_kept(kept + n, in, x);
        n += count_bits(in);
        under += count_bits(less);
    }
    for (; i < count; i++) {
        real x = values[i];
        under += x < b.low;
        if (x >= b.low && x <= b.high) kept[n++] = x;
    }
    SAP_ASSERT(n + under <= count);
    *below = under;
    return n;
}

static uint64_t random_next(uint64_t* state) {
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

// Two values between which the value of rank `rank` probably lies; with `single`, one value that is likely to be it.
static bracket guess_bracket(const real* values, int64_t count, int64_t rank, bool single, uint64_t* random) {
    enum { FEW_ROWS = NETWORK_ROWS / 2 };
    real sample[NETWORK_MAX], sorted[NETWORK_MAX];
    int rows = count < 16 * NETWORK_MAX ? FEW_ROWS : NETWORK_ROWS, size = rows * LANES;
    for (int i = 0; i < size; i++) sample[i] = values[(int64_t)(((random_next(random) >> 32) * (uint64_t)count) >> 32)];
    if (rows == FEW_ROWS)
        sort_block(sample, size, sorted, FEW_ROWS);
    else
        sort_block(sample, size, sorted, NETWORK_ROWS);
    int at = (int)((double)rank / (double)count * size);
    int slack = single ? 0 : (int)(1.2 * sqrt(size)); // 2.4 standard deviations of a median's place in the sample
    int first = at - slack < 0 ? 0 : at - slack, last = at + slack > size - 1 ? size - 1 : at + slack;
    return (bracket){sorted_value(sorted, first, rows), sorted_value(sorted, last, rows)};
}

// Adding zero makes minus zero, which lies between the smallest numbers, zero.
static real next_below(real x) {
    return (SAP_REAL_BITS == 64 ? (real)nextafter(x, -INFINITY) : nextafterf((float)x, -INFINITY)) + 0;
}
static real next_above(real x) {
    return (SAP_REAL_BITS == 64 ? (real)nextafter(x, INFINITY) : nextafterf((float)x, INFINITY)) + 0;
}

// Reals in their order as unsigned numbers, and back.
static real_word ordinal(real x) {
    real_word bits = bits_of(x), sign = (real_word)1 << (SAP_REAL_BITS - 1);
    return bits & sign ? ~bits : bits | sign;
}
static real of_ordinal(real_word n) {
    real_word sign = (real_word)1 << (SAP_REAL_BITS - 1), bits = n & sign ? n ^ sign : ~n;
    real x;
    memcpy(&x, &bits, sizeof x);
    return x + 0;
}

// The lower half of a bracket, by the numbers that there are.
static bracket halve_bracket(bracket b) {
    real_word low = ordinal(b.low), high = ordinal(b.high);
    return (bracket){b.low, of_ordinal(low + (high - low) / 2)};
}

// The value of rank `rank` (from 0) among `total` values (at least 1); *less of them are smaller. `room` has space for
// `total` values and must not overlap them. Expected O(total); after as many guesses as no honest input needs, brackets
// are halved instead, so that an order of points made to mislead the sample costs O(total * bits of a real).
static real select_value(const real* all, real* room, int64_t total, int64_t rank, int64_t* less) {
    SAP_ASSERT(rank >= 0 && rank < total);
    const real* values = all;
    int64_t count = total, smaller = 0;
    uint64_t random = 0x9E3779B97F4A7C15u;
    bracket limits = {-INFINITY, INFINITY}; // the answer lies within
    bool outside = false, single = false;
    for (int round = 0; count > NETWORK_MAX; round++) {
        bracket b = outside                ? limits
                    : round < MOST_GUESSES ? guess_bracket(values, count, rank - smaller, single, &random)
                                           : halve_bracket(limits);
        int64_t below, kept = keep_between(values, count, b, room, &below);
        outside = rank - smaller < below || rank - smaller >= below + kept;
        if (outside) { // the guess missed: start again from what lies on the right side of it
            if (rank - smaller < below)
                limits.high = next_below(b.low);
            else
                limits.low = next_above(b.high);
            values = all;
            count = total;
            smaller = 0;
            continue;
        }
        SAP_ASSERT(kept > 0);
        smaller += below;
        limits = b;
        if (b.low == b.high) {
            *less = smaller;
            return b.low;
        }
        single = kept > count - count / 8; // many equal values: try whether the answer is one of them
        values = room;
        count = kept;
    }
    SAP_ASSERT(rank >= smaller && rank - smaller < count);
    int64_t few;
    real found = select_small(values, (int)count, (int)(rank - smaller), &few);
    *less = smaller + few;
    return found;
}

#endif
