// Loop subdivision as the books have it, slow and in double precision: edges in a hash map, sums in any order. For test
// programs only: needs test.h.
#ifndef SAPWOOD_TESTS_LOOP_ORACLE_H
#define SAPWOOD_TESTS_LOOP_ORACLE_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// A mesh and what is sharp about it.
typedef struct plain {
    double (*at)[3];
    int32_t* triangles;
    int64_t vertices, count;
    int32_t* creases; // pairs
    int64_t crease_count;
    uint8_t* corner; // [vertices]
    bool corners_at_tips;
} plain;

typedef struct plain_edge {
    int32_t low, high; // low -1: an empty place
    int32_t number;    // by first appearance
    int faces;
    int32_t face[2], across[2];
    bool crease;
} plain_edge;

typedef struct plain_map {
    plain_edge* place;
    int64_t size;
    int32_t count;
} plain_map;

static inline plain_edge* plain_find(plain_map* m, int32_t a, int32_t b) {
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    uint64_t at = ((uint64_t)low * 0x9e3779b97f4a7c15u) ^ ((uint64_t)high * 0xc2b2ae3d27d4eb4fu);
    for (at ^= at >> 29;; at++) {
        plain_edge* e = &m->place[at % (uint64_t)m->size];
        if (e->low == low && e->high == high) return e;
        if (e->low >= 0) continue;
        *e = (plain_edge){.low = low, .high = high, .number = m->count++};
        return e;
    }
}

static inline plain_map plain_map_of(const plain* p) {
    plain_map m = {NULL, 8 * p->count + 8, 0};
    m.place = calloc((size_t)m.size, sizeof *m.place);
    for (int64_t i = 0; i < m.size; i++) m.place[i].low = -1;
    for (int64_t t = 0; t < p->count; t++)
        for (int j = 0; j < 3; j++) {
            const int32_t* c = p->triangles + 3 * t;
            plain_edge* e = plain_find(&m, c[j], c[(j + 1) % 3]);
            e->face[e->faces] = (int32_t)t;
            e->across[e->faces++] = c[(j + 2) % 3];
        }
    for (int64_t i = 0; i < p->crease_count; i++)
        plain_find(&m, p->creases[2 * i], p->creases[2 * i + 1])->crease = true;
    return m;
}

static inline int64_t plain_root(int64_t* parent, int64_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

static inline int64_t plain_corner_of(const plain* p, int32_t face, int32_t vertex) {
    for (int j = 0; j < 3; j++)
        if (p->triangles[3 * (int64_t)face + j] == vertex) return 3 * (int64_t)face + j;
    return 0;
}

// What stands about a vertex.
typedef struct plain_star {
    double sum[3], sharp_sum[3];
    int64_t neighbours, sharp, faces, fans;
} plain_star;

static inline plain_star* plain_stars(const plain* p, plain_map* m) {
    plain_star* star = calloc((size_t)p->vertices + 1, sizeof *star);
    int64_t* parent = calloc((size_t)(3 * p->count + 1), sizeof *parent);
    for (int64_t c = 0; c < 3 * p->count; c++) parent[c] = c;
    for (int64_t i = 0; i < m->size; i++) {
        const plain_edge* e = &m->place[i];
        for (int end = 0; end < 2 && e->low >= 0; end++) {
            const int32_t v = end ? e->high : e->low, w = end ? e->low : e->high;
            const bool sharp = e->crease || e->faces == 1;
            star[v].neighbours++;
            star[v].sharp += sharp;
            for (int a = 0; a < 3; a++) star[v].sum[a] += p->at[w][a];
            for (int a = 0; a < 3 && sharp; a++) star[v].sharp_sum[a] += p->at[w][a];
            if (e->faces == 2)
                parent[plain_root(parent, plain_corner_of(p, e->face[0], v))] =
                    plain_root(parent, plain_corner_of(p, e->face[1], v));
        }
    }
    for (int64_t c = 0; c < 3 * p->count; c++) {
        star[p->triangles[c]].faces++;
        star[p->triangles[c]].fans += parent[c] == c;
    }
    free(parent);
    return star;
}

typedef enum plain_kind { PLAIN_SMOOTH, PLAIN_DART, PLAIN_CREASE, PLAIN_CORNER } plain_kind;

static inline plain_kind plain_kind_of(const plain* p, const plain_star* star, int64_t v) {
    const plain_star* s = &star[v];
    const bool tip = p->corners_at_tips && s->faces == 1;
    if (p->corner[v] || s->sharp > 2 || s->fans != 1 || tip) return PLAIN_CORNER;
    return s->sharp == 2 ? PLAIN_CREASE : s->sharp == 1 ? PLAIN_DART : PLAIN_SMOOTH;
}

static inline double plain_weight(int64_t n) {
    const double c = 3.0 / 8 + cos(2 * 3.14159265358979323846 / (double)n) / 4;
    return (5.0 / 8 - c * c) / (double)n;
}

// Where a vertex goes, by one step or all the way.
static inline void plain_move(const plain* p, const plain_star* star, int64_t v, bool limit, double to[3]) {
    const plain_star* s = &star[v];
    const plain_kind kind = plain_kind_of(p, star, v);
    const double n = (double)s->neighbours, loop = s->neighbours ? plain_weight(s->neighbours) : 0,
                 weight = limit ? 1 / (3 / (8 * loop) + n) : loop;
    for (int a = 0; a < 3; a++) {
        const double at = p->at[v][a];
        to[a] = kind == PLAIN_CORNER   ? at
                : kind == PLAIN_CREASE ? (limit ? (4 * at + s->sharp_sum[a]) / 6 : (6 * at + s->sharp_sum[a]) / 8)
                                       : (1 - n * weight) * at + weight * s->sum[a];
    }
}

static inline void plain_free(plain* p) {
    free(p->at);
    free(p->triangles);
    free(p->creases);
    free(p->corner);
}

static inline plain plain_refined(const plain* p) {
    plain_map m = plain_map_of(p);
    plain_star* star = plain_stars(p, &m);
    plain to = {.vertices = p->vertices + m.count, .count = 4 * p->count, .corners_at_tips = p->corners_at_tips};
    to.at = calloc((size_t)to.vertices + 1, sizeof *to.at);
    to.corner = calloc((size_t)to.vertices + 1, 1);
    to.triangles = calloc((size_t)(3 * to.count + 1), sizeof *to.triangles);
    to.creases = calloc(4 * (size_t)m.count + 1, sizeof *to.creases);
    for (int64_t v = 0; v < p->vertices; v++) {
        plain_move(p, star, v, false, to.at[v]);
        to.corner[v] = plain_kind_of(p, star, v) == PLAIN_CORNER;
    }
    for (int64_t i = 0; i < m.size; i++) {
        const plain_edge* e = &m.place[i];
        if (e->low < 0) continue;
        const int32_t v = (int32_t)p->vertices + e->number;
        const bool ends = plain_kind_of(p, star, e->low) == PLAIN_DART || plain_kind_of(p, star, e->high) == PLAIN_DART;
        for (int a = 0; a < 3; a++) {
            const double sum = p->at[e->low][a] + p->at[e->high][a];
            to.at[v][a] = e->faces == 1 || (e->crease && !ends)
                              ? sum / 2
                              : (3 * sum + p->at[e->across[0]][a] + p->at[e->across[1]][a]) / 8;
        }
        const int32_t halves[4] = {e->low, v, v, e->high};
        if (e->crease) memcpy(to.creases + 4 * to.crease_count / 2, halves, sizeof halves);
        if (e->crease) to.crease_count += 2;
    }
    for (int64_t t = 0; t < p->count; t++) {
        const int32_t* c = p->triangles + 3 * t;
        int32_t mid[3];
        for (int j = 0; j < 3; j++) mid[j] = (int32_t)p->vertices + plain_find(&m, c[j], c[(j + 1) % 3])->number;
        const int32_t four[12] = {c[0],   mid[0], mid[2], mid[0], c[1],   mid[1],
                                  mid[2], mid[1], c[2],   mid[0], mid[1], mid[2]};
        memcpy(to.triangles + 12 * t, four, sizeof four);
    }
    free(star);
    free(m.place);
    return to;
}

// All vertices go to their limits.
static inline void plain_to_limit(plain* p) {
    plain_map m = plain_map_of(p);
    plain_star* star = plain_stars(p, &m);
    double(*to)[3] = calloc((size_t)p->vertices + 1, sizeof *to);
    for (int64_t v = 0; v < p->vertices; v++) plain_move(p, star, v, true, to[v]);
    free(p->at);
    p->at = to;
    free(star);
    free(m.place);
}

#endif
