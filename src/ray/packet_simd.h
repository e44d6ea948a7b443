// A packet: LANES rays of one octant, one per lane. It is prepared by the operations of ray/intersect.h in the same
// order, so that the bits are the same.
#ifndef SAPWOOD_RAY_PACKET_SIMD_H
#define SAPWOOD_RAY_PACKET_SIMD_H

#include "ray/ray.h"
#include "ray/rows_simd.h"

typedef struct packet {
    real origin[3][LANES], inverse[3][LANES], early[3][LANES], late[3][LANES];
    real shear[3][LANES], t_min[LANES], t_max[LANES];
    uint32_t rays;     // the lanes that hold a ray which may hit something
    uint32_t axis_1;   // those whose longest axis is y
    uint32_t axis_2;   // those whose longest axis is z
    uint32_t swapped;  // those with a negative component along their longest axis
    uint32_t backward; // bit k: all have a negative component along axis k
    bool mixed;        // longest axes differ
} __attribute__((aligned(64))) packet;

// What each lane has found. u and v are weights, still to be divided by `sum`.
typedef struct found {
    real t[LANES], u[LANES], v[LANES], sum[LANES];
    int32_t place[LANES]; // of the triangle, or -1
    sap_hit* row[LANES];  // all hits: where they go, and how many there are
    int32_t count[LANES];
    int32_t limit;
} __attribute__((aligned(64))) found;

INLINE vreal v_divide(vreal a, vreal b) { return a / b; }
INLINE vreal v_negative(vreal a) { return v_sub(v_set(0), a); }
INLINE vreal v_magnitude(vreal a) { return v_max(a, v_negative(a)); }
INLINE vid id_select(uint32_t mask, vid yes, vid no) { return (vid)v_select(mask, (vreal)yes, (vreal)no); }

// The axes of a lane as x, y and z of the sheared triangles.
INLINE void lane_axes(const packet* p, int lane, int* axes) {
    static const uint8_t next[3] = {1, 2, 0};
    SAP_ASSERT((p->axis_1 & p->axis_2) == 0);
    int z = (int)((p->axis_1 >> lane & 1) | (p->axis_2 >> lane & 1) << 1), x = next[z], y = next[x];
    bool swapped = p->swapped >> lane & 1;
    axes[0] = swapped ? y : x;
    axes[1] = swapped ? x : y;
    axes[2] = z;
}

// The lanes among the first n whose rays are finite, have a direction and are not empty.
INLINE uint32_t valid_lanes(const packet* p, const vreal* d, int n) {
    vreal most = v_set(FLT_MAX), from = v_load(p->t_min), least = v_set(0);
    uint32_t valid = lanes_below(n) & v_less_equal(v_magnitude(from), most) & v_less_equal(from, v_load(p->t_max));
#pragma GCC unroll 3
    for (int k = 0; k < 3; k++) {
        valid &= v_less_equal(v_magnitude(v_load(p->origin[k])), most) & v_less_equal(v_magnitude(d[k]), most);
        least = v_max(v_magnitude(d[k]), least);
    }
    return valid & v_less(v_set(0), least);
}

INLINE void packet_axes(packet* p, const vreal* d) {
    vreal x = v_magnitude(d[0]), y = v_magnitude(d[1]), z = v_magnitude(d[2]);
    uint32_t x_above_y = v_less(y, x), is_x = x_above_y & v_less(z, x), is_y = ~x_above_y & v_less(z, y);
    vreal along = v_select(is_x, d[0], v_select(is_y, d[1], d[2]));
    vreal next = v_select(is_x, d[1], v_select(is_y, d[2], d[0]));
    vreal last = v_select(is_x, d[2], v_select(is_y, d[0], d[1]));
    p->swapped = v_less(along, v_set(0));
    uint32_t all = p->rays, of_x = is_x & all, of_y = is_y & all, of_z = all & ~(of_x | of_y);
    p->axis_1 = of_y;
    p->axis_2 = of_z;
    p->mixed = of_x != all && of_y != all && of_z != all;
    v_store(p->shear[0], v_divide(v_select(p->swapped, last, next), along));
    v_store(p->shear[1], v_divide(v_select(p->swapped, next, last), along));
    v_store(p->shear[2], v_divide(v_set(1), along));
}

#if SAP_SIMD > 1
// Eight rays from `lane` on of the n of `numbers`, one number of each a register.
INLINE void turn_rays(__m256* to, const sap_ray* rays, const uint32_t* numbers, int lane, int n) {
    __m256 front[4], back[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        const real* low = rays[numbers[lane + i < n ? lane + i : 0]].origin;
        const real* high = rays[numbers[lane + i + 4 < n ? lane + i + 4 : 0]].origin;
        front[i] = two_quarters(low, high);
        back[i] = two_quarters(low + 4, high + 4);
    }
    turn_eight(to, front);
    turn_eight(to + 4, back);
}
#endif

// The rays of `numbers`, n of them, one number of each a register: origin, t_min, direction, t_max. The lanes behind
// repeat the first.
INLINE void load_rays(vreal* to, const sap_ray* rays, const uint32_t* numbers, int n) {
    SAP_ASSERT(n >= 1 && n <= LANES);
#if SAP_SIMD == 3
    __m256 low[8], high[8];
    turn_rays(low, rays, numbers, 0, n);
    turn_rays(high, rays, numbers, 8, n);
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) to[i] = _mm512_insertf32x8(_mm512_castps256_ps512(low[i]), high[i], 1);
#elif SAP_SIMD == 2
    turn_rays(to, rays, numbers, 0, n);
#else
    vreal front[4], back[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        const real* ray = rays[numbers[i < n ? i : 0]].origin;
        front[i] = v_load(ray);
        back[i] = v_load(ray + 4);
    }
    turn_four(to, front);
    turn_four(to + 4, back);
#endif
}

// Fills a packet with the rays of `numbers`, n of them; the lanes behind repeat the first.
INLINE void packet_gather(packet* p, vreal* d, const sap_ray* rays, const uint32_t* numbers, int n) {
    vreal ray[8];
    load_rays(ray, rays, numbers, n);
#pragma GCC unroll 3
    for (int k = 0; k < 3; k++) {
        v_store(p->origin[k], ray[k]);
        d[k] = ray[4 + k];
    }
    v_store(p->t_min, ray[3]);
    v_store(p->t_max, ray[7]);
}

// Fills it with one ray.
INLINE void packet_repeat(packet* p, vreal* d, const sap_ray* ray) {
    for (int k = 0; k < 3; k++) {
        v_store(p->origin[k], v_set(ray->origin[k]));
        d[k] = v_set(ray->direction[k]);
    }
    v_store(p->t_min, v_set(ray->t_min));
    v_store(p->t_max, v_set(ray->t_max));
}

// Prepares the first n rays, all of one octant, with the directions d. As sap_ray_prepare.
INLINE void packet_prepare(packet* p, vreal* d, int n, uint32_t octant, real magnitude) {
    vreal largest = v_set(0);
    SAP_ASSERT(n >= 1 && n <= LANES && octant < 8);
#pragma GCC unroll 3
    for (int k = 0; k < 3; k++) {
        d[k] = v_add(d[k], v_set(0)); // -0 becomes 0
        largest = v_max(v_magnitude(v_load(p->origin[k])), largest);
    }
    p->backward = octant;
    p->rays = valid_lanes(p, d, n);
    packet_axes(p, d);
    vreal margin = v_mul(v_add(v_set(magnitude), largest), v_set(0x1p-20f));
#pragma GCC unroll 3
    for (int k = 0; k < 3; k++) {
        vreal o = v_load(p->origin[k]), above = v_add(o, margin), below = v_sub(o, margin);
        v_store(p->inverse[k], v_divide(v_set(1), d[k]));
        v_store(p->early[k], octant >> k & 1 ? below : above);
        v_store(p->late[k], octant >> k & 1 ? above : below);
    }
    v_store(p->t_max, v_min(v_load(p->t_max), v_set(FLT_MAX)));
}

#endif
