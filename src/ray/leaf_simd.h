// Intersection in leaves: of one triangle with a packet of rays, or of one ray with LANES triangles, by the operations
// of ray/intersect.h in the same order.
#ifndef SAPWOOD_RAY_LEAF_SIMD_H
#define SAPWOOD_RAY_LEAF_SIMD_H

#include "ray/packet_simd.h"

enum { FIND_FIRST, FIND_ANY, FIND_ALL };

// The intersections of each lane's ray with its triangle.
typedef struct intersections {
    vreal t, u, v, sum;
    uint32_t hits; // the lanes with a hit
} intersections;

typedef struct sheared {
    vreal a[3], b[3], c[3], of_a, of_b, of_c;
} sheared;

// Edge functions in double precision, for the lanes in which one of them is zero.
static __attribute__((noinline)) void refine_edges(sheared* s, uint32_t lanes) {
    real a[2][LANES], b[2][LANES], c[2][LANES], of_a[LANES], of_b[LANES], of_c[LANES];
    for (int k = 0; k < 2; k++) {
        v_store(a[k], s->a[k]);
        v_store(b[k], s->b[k]);
        v_store(c[k], s->c[k]);
    }
    v_store(of_a, s->of_a);
    v_store(of_b, s->of_b);
    v_store(of_c, s->of_c);
    for (; lanes; lanes &= lanes - 1) {
        int i = __builtin_ctz(lanes);
        of_a[i] = (real)((double)c[0][i] * (double)b[1][i] - (double)c[1][i] * (double)b[0][i]);
        of_b[i] = (real)((double)a[0][i] * (double)c[1][i] - (double)a[1][i] * (double)c[0][i]);
        of_c[i] = (real)((double)b[0][i] * (double)a[1][i] - (double)b[1][i] * (double)a[0][i]);
    }
    s->of_a = v_load(of_a);
    s->of_b = v_load(of_b);
    s->of_c = v_load(of_c);
}

INLINE void shear_corner(vreal* to, const vreal* corner, const vreal* origin, const vreal* shear) {
    to[2] = v_sub(corner[2], origin[2]);
    to[0] = v_sub(v_sub(corner[0], origin[0]), v_mul(shear[0], to[2]));
    to[1] = v_sub(v_sub(corner[1], origin[1]), v_mul(shear[1], to[2]));
}

// corners: x, y, z of a, then b, then c, by the ray's own axes. worst: hits behind it do
// not count.
INLINE intersections intersect(const vreal* corners, const vreal* origin, const vreal* shear, vreal t_min, vreal worst,
                               uint32_t active) {
    sheared s;
    vreal zero = v_set(0);
    shear_corner(s.a, corners, origin, shear);
    shear_corner(s.b, corners + 3, origin, shear);
    shear_corner(s.c, corners + 6, origin, shear);
    s.of_a = v_sub(v_mul(s.c[0], s.b[1]), v_mul(s.c[1], s.b[0]));
    s.of_b = v_sub(v_mul(s.a[0], s.c[1]), v_mul(s.a[1], s.c[0]));
    s.of_c = v_sub(v_mul(s.b[0], s.a[1]), v_mul(s.b[1], s.a[0]));
    uint32_t edges = active & (v_equal(s.of_a, zero) | v_equal(s.of_b, zero) | v_equal(s.of_c, zero));
    if (__builtin_expect(edges != 0, 0)) {
        sheared refined = s; // a copy: `s` itself stays in registers
        refine_edges(&refined, edges);
        s.of_a = refined.of_a;
        s.of_b = refined.of_b;
        s.of_c = refined.of_c;
    }
    vreal least = v_min(v_min(s.of_a, s.of_b), s.of_c), most = v_max(v_max(s.of_a, s.of_b), s.of_c);
    intersections m;
    m.hits = active & (v_less_equal(zero, least) | v_less_equal(most, zero));
    m.t = m.u = m.v = m.sum = zero;
    if (!m.hits) return m;
    m.u = s.of_b;
    m.v = s.of_c;
    m.sum = v_add(v_add(s.of_a, s.of_b), s.of_c);
    vreal a = v_mul(s.of_a, v_mul(shear[2], s.a[2])), b = v_mul(s.of_b, v_mul(shear[2], s.b[2]));
    m.t = v_divide(v_add(v_add(a, b), v_mul(s.of_c, v_mul(shear[2], s.c[2]))), m.sum);
    m.hits &= ~v_equal(m.sum, zero) & v_less_equal(t_min, m.t) & v_less_equal(m.t, worst);
    return m;
}

// FIND_ALL: adds a hit of a lane.
INLINE void add_hit(found* f, int lane, real t, real u, real v, real sum, int32_t id) {
    int32_t count = sap_hits_insert(f->row[lane], 1, f->count[lane], f->limit, (sap_hit){t, u / sum, v / sum, id});
    SAP_ASSERT(count <= f->limit);
    f->count[lane] = count;
    if (count == f->limit) f->t[lane] = f->row[lane][count - 1].t;
}

INLINE void add_hits(found* f, const intersections* m, int32_t id) {
    real t[LANES], u[LANES], v[LANES], sum[LANES];
    v_store(t, m->t);
    v_store(u, m->u);
    v_store(v, m->v);
    v_store(sum, m->sum);
    for (uint32_t hits = m->hits; hits; hits &= hits - 1) {
        int i = __builtin_ctz(hits);
        add_hit(f, i, t[i], u[i], v[i], sum[i], id);
    }
}

// Intersects the triangle at `place` with the rays of a packet. Returns the lanes whose best hit it became.
INLINE uint32_t triangle_against(const packet* p, const real* corners, const int32_t* ids, const int* axes,
                                 int32_t place, uint32_t active, found* f, const int mode) {
    vreal corner[9], origin[3], shear[3];
    SAP_ASSERT(place >= 0 && axes[0] + axes[1] + axes[2] == 3);
#pragma GCC unroll 3
    for (int k = 0; k < 3; k++) {
        corner[k] = v_set(corners[axes[k]]);
        corner[3 + k] = v_set(corners[3 + axes[k]]);
        corner[6 + k] = v_set(corners[6 + axes[k]]);
        origin[k] = v_load(p->origin[axes[k]]);
        shear[k] = v_load(p->shear[k]);
    }
    vreal best = v_load(f->t);
    intersections m = intersect(corner, origin, shear, v_load(p->t_min), best, active);
    if (!m.hits) return 0;
    if (mode == FIND_ALL) {
        add_hits(f, &m, ids[place]);
        return 0;
    }
    uint32_t equal = m.hits & v_equal(m.t, best), taken = m.hits & ~equal;
    for (; equal; equal &= equal - 1) { // the smaller number wins
        int i = __builtin_ctz(equal);
        if (f->place[i] < 0 || ids[place] < ids[f->place[i]]) taken |= 1u << i;
    }
    v_store(f->t, v_select(taken, m.t, best));
    v_store(f->u, v_select(taken, m.u, v_load(f->u)));
    v_store(f->v, v_select(taken, m.v, v_load(f->v)));
    v_store(f->sum, v_select(taken, m.sum, v_load(f->sum)));
    id_store(f->place, id_select(taken, id_set(place), id_load(f->place)));
    return taken;
}

#if SAP_SIMD > 1
INLINE void load_eight(rows* r, int lane, const real* corners, const int32_t* places, int n) {
    __m256 front[4], back[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        const real* low = corners + (size_t)places[i < n ? i : n - 1] * SAP_TRIANGLE_FLOATS;
        const real* high = corners + (size_t)places[i + 4 < n ? i + 4 : n - 1] * SAP_TRIANGLE_FLOATS;
        front[i] = two_quarters(low, high);
        back[i] = two_quarters(low + 4, high + 4);
        r->row[8][lane + i] = low[8];
        r->row[8][lane + i + 4] = high[8];
    }
    turn(r, 0, lane, front);
    turn(r, 4, lane, back);
}
#else
INLINE void load_four(rows* r, const real* corners, const int32_t* places, int n) {
    vreal front[4], back[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        const real* triangle = corners + (size_t)places[i < n ? i : n - 1] * SAP_TRIANGLE_FLOATS;
        front[i] = v_load(triangle);
        back[i] = v_load(triangle + 4);
        r->row[8][i] = triangle[8];
    }
    turn(r, 0, front);
    turn(r, 4, back);
}
#endif

// The lanes from n on repeat a triangle.
INLINE void load_rows(rows* r, const real* corners, const int32_t* places, int n) {
    SAP_ASSERT(n >= 1 && n <= LANES);
#if SAP_SIMD > 1
    load_eight(r, 0, corners, places, n);
#if SAP_SIMD == 3
    if (n > 8)
        load_eight(r, 8, corners, places + 8, n - 8);
    else
        for (int k = 0; k < 9; k++) _mm256_store_ps(r->row[k] + 8, _mm256_load_ps(r->row[k]));
#endif
#else
    load_four(r, corners, places, n);
#endif
}

// Updates a lane's best hit by its intersections with several triangles. Whether it changed.
INLINE bool take_best(found* f, int lane, const intersections* m, const int32_t* places, const int32_t* ids) {
    real t[LANES], u[LANES], v[LANES], sum[LANES], best_t = f->t[lane];
    int32_t best_place = f->place[lane];
    int best = -1;
    v_store(t, m->t);
    for (uint32_t hits = m->hits; hits; hits &= hits - 1) {
        int i = __builtin_ctz(hits);
        if (t[i] < best_t || (t[i] == best_t && (best_place < 0 || ids[places[i]] < ids[best_place]))) {
            best = i;
            best_t = t[i];
            best_place = places[i];
        }
    }
    if (best < 0) return false;
    v_store(u, m->u);
    v_store(v, m->v);
    v_store(sum, m->sum);
    f->t[lane] = best_t;
    f->u[lane] = u[best];
    f->v[lane] = v[best];
    f->sum[lane] = sum[best];
    f->place[lane] = best_place;
    return true;
}

// Intersects the ray of one lane with n triangles. Whether its best hit changed.
INLINE bool ray_against(const packet* p, int lane, const rows* r, const int32_t* places, int n, const int32_t* ids,
                        found* f, const int mode) {
    int axes[3];
    vreal corner[9], origin[3], shear[3];
    lane_axes(p, lane, axes);
    SAP_ASSERT(lane >= 0 && lane < LANES && n >= 1 && n <= LANES);
#pragma GCC unroll 3
    for (int k = 0; k < 3; k++) {
        corner[k] = v_load(r->row[axes[k]]);
        corner[3 + k] = v_load(r->row[3 + axes[k]]);
        corner[6 + k] = v_load(r->row[6 + axes[k]]);
        origin[k] = v_set(p->origin[axes[k]][lane]);
        shear[k] = v_set(p->shear[k][lane]);
    }
    intersections m = intersect(corner, origin, shear, v_set(p->t_min[lane]), v_set(f->t[lane]), lanes_below(n));
    if (!m.hits) return false;
    if (mode != FIND_ALL) return take_best(f, lane, &m, places, ids);
    real t[LANES], u[LANES], v[LANES], sum[LANES];
    v_store(t, m.t);
    v_store(u, m.u);
    v_store(v, m.v);
    v_store(sum, m.sum);
    for (uint32_t hits = m.hits; hits; hits &= hits - 1) {
        int i = __builtin_ctz(hits);
        add_hit(f, lane, t[i], u[i], v[i], sum[i], ids[places[i]]);
    }
    return false;
}

#endif
