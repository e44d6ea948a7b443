// Packets of rays: how they are formed, and their results. The walk is in ray/walk_simd.h.
#include "ray/ray.h"

#if SAP_REAL_BITS == 32
#include "ray/walk_simd.h"

// ---- Answers

INLINE sap_hit lane_hit(const found* f, int lane, const int32_t* ids) {
    if (f->place[lane] < 0) return (sap_hit){INFINITY, 0, 0, -1};
    return (sap_hit){f->t[lane], f->u[lane] / f->sum[lane], f->v[lane] / f->sum[lane], ids[f->place[lane]]};
}

INLINE void begin(const sap_ray_run* run, const packet* p, const uint32_t* numbers, int n, found* f) {
    v_store(f->t, v_load(p->t_max));
    id_store(f->place, id_set(-1));
    f->limit = run->job.limit;
    for (int i = 0; i < n && f->limit; i++) {
        f->row[i] = run->job.hits + (int64_t)numbers[i] * f->limit;
        f->count[i] = 0;
    }
    v_store(f->u, v_set(0));
    v_store(f->v, v_set(0));
    v_store(f->sum, v_set(1));
}

INLINE void answer(const sap_ray_run* run, const uint32_t* numbers, int n, const found* f, const int32_t* ids) {
    const sap_ray_job* job = &run->job;
    for (int i = 0; i < n; i++) {
        if (job->occluded)
            job->occluded[numbers[i]] = f->place[i] >= 0;
        else if (!job->limit)
            job->hits[numbers[i]] = lane_hit(f, i, ids);
        else {
            if (job->counts) job->counts[numbers[i]] = f->count[i];
            for (int32_t j = f->count[i]; j < job->limit; j++) f->row[i][j] = (sap_hit){INFINITY, 0, 0, -1};
        }
    }
}

// Out of line: so many values in registers would crowd out those of the walk.
static __attribute__((noinline)) void fill_packet(packet* p, const sap_ray_run* run, const uint32_t* numbers, int n,
                                                  uint32_t octant) {
    vreal direction[3];
    packet_gather(p, direction, run->job.rays, numbers, n);
    packet_prepare(p, direction, n, octant, run->magnitude);
}

// Traces up to LANES rays of one octant.
INLINE void trace(const sap_ray_run* run, const uint32_t* numbers, int n, uint32_t octant, const bool coherent) {
    mesh_view mesh = view_mesh(run->tree);
    packet p;
    found f;
    fill_packet(&p, run, numbers, n, octant);
    begin(run, &p, numbers, n, &f);
    if (run->job.occluded)
        walk(&mesh, &p, &f, FIND_ANY, coherent);
    else if (run->job.limit)
        walk(&mesh, &p, &f, FIND_ALL, coherent);
    else
        walk(&mesh, &p, &f, FIND_FIRST, coherent);
    answer(run, numbers, n, &f, mesh.ids);
}

static void trace_alike(const sap_ray_run* run, const uint32_t* numbers, int n, uint32_t octant) {
    trace(run, numbers, n, octant, true);
}

static void trace_ordered(const sap_ray_run* run, const sap_ray_key* keys, int64_t count) {
    for (int64_t i = 0, n; i < count; i += n) {
        uint32_t numbers[LANES], cell = keys[i].order >> SAP_RAY_BELOW_OCTANT;
        for (n = 0; n < LANES && i + n < count && keys[i + n].order >> SAP_RAY_BELOW_OCTANT == cell; n++)
            numbers[n] = keys[i + n].ray;
        for (int64_t j = i + n; j < count && j < i + n + LANES; j++) __builtin_prefetch(run->job.rays + keys[j].ray);
        SAP_ASSERT(n > 0);
        trace(run, numbers, (int)n, cell & 7, false);
    }
}

// ---- Keys

#if defined(__EMSCRIPTEN__) // where code is downloaded, without
#define LIST_KEYS NULL
#else
#define LIST_KEYS list_keys

INLINE void answer_none(const sap_ray_run* run, int64_t ray) {
    const sap_ray_job* job = &run->job;
    const sap_hit none = {INFINITY, 0, 0, -1};
    if (job->occluded) {
        job->occluded[ray] = false;
        return;
    }
    if (job->counts) job->counts[ray] = 0;
    for (int64_t i = 0, row = job->limit ? job->limit : 1; i < row; i++) job->hits[ray * row + i] = none;
}

// The lanes, n at most, whose rays meet the tree's box. By the operations of packet_prepare and clip_packet, but for
// rays of any octant.
INLINE uint32_t lanes_in_box(const mesh_view* mesh, packet* p, const vreal* d, int n, real magnitude) {
    vreal largest = v_set(0), from = v_load(p->t_min), to = v_min(v_load(p->t_max), v_set(FLT_MAX));
    for (int k = 0; k < 3; k++) largest = v_max(v_magnitude(v_load(p->origin[k])), largest);
    const vreal margin = v_mul(v_add(v_set(magnitude), largest), v_set(0x1p-20f));
#pragma GCC unroll 3
    for (int k = 0; k < 3; k++) {
        const vreal o = v_load(p->origin[k]), above = v_add(o, margin), below = v_sub(o, margin);
        const vreal lower = v_set(mesh->lower[k]), upper = v_set(mesh->upper[k]), inverse = v_divide(v_set(1), d[k]);
        const uint32_t backward = v_less(d[k], v_set(0));
        const vreal in = v_sub(v_select(backward, upper, lower), v_select(backward, below, above));
        const vreal out = v_sub(v_select(backward, lower, upper), v_select(backward, above, below));
        from = v_max(v_mul(in, inverse), from);
        to = v_min(v_mul(out, inverse), to);
    }
    return valid_lanes(p, d, n) & v_less_equal(from, to);
}

// Cells from 0 to `last`; 0 for NaN.
INLINE vreal cells_of(vreal x, real last) { return v_min(v_max(x, v_set(0)), v_set(last)); }

// The order of each lane's ray, as sap_ray_key_of.
INLINE void orders_of(const mesh_view* mesh, const packet* p, const vreal* d, real scale, uint32_t* order) {
    enum { X, Y, Z, OCTANT, AXIS, U, V, PARTS };
    real part[PARTS][LANES] __attribute__((aligned(64)));
    const vreal zero = v_set(0), x = v_magnitude(d[0]), y = v_magnitude(d[1]), z = v_magnitude(d[2]);
    const uint32_t x_above_y = v_less(y, x), is_x = x_above_y & v_less(z, x), is_y = ~x_above_y & v_less(z, y);
    const vreal along = v_divide(v_set(1 << SAP_RAY_DIRECTION_BITS), v_select(is_x, x, v_select(is_y, y, z)));
    const vreal next = v_select(is_x, y, v_select(is_y, z, x)), last = v_select(is_x, z, v_select(is_y, x, y));
    vreal octant = zero;
    for (int k = 0; k < 3; k++) {
        const vreal cell = v_mul(v_sub(v_load(p->origin[k]), v_set(mesh->lower[k])), v_set(scale));
        v_store(part[X + k], cells_of(cell, (1 << SAP_RAY_ORIGIN_BITS) - 1));
        octant = v_add(octant, v_select(v_less(d[k], zero), v_set((real)(1 << k)), zero));
    }
    v_store(part[OCTANT], octant);
    v_store(part[AXIS], v_select(is_x, zero, v_select(is_y, v_set(1), v_set(2))));
    v_store(part[U], cells_of(v_mul(next, along), (1 << SAP_RAY_DIRECTION_BITS) - 1));
    v_store(part[V], cells_of(v_mul(last, along), (1 << SAP_RAY_DIRECTION_BITS) - 1));
    for (int i = 0; i < LANES; i++) // int32_t: all vector units convert to it
        order[i] =
            sap_ray_order((uint32_t)(int32_t)part[X][i], (uint32_t)(int32_t)part[Y][i], (uint32_t)(int32_t)part[Z][i],
                          (uint32_t)(int32_t)part[OCTANT][i], (uint32_t)(int32_t)part[AXIS][i],
                          (uint32_t)(int32_t)part[U][i], (uint32_t)(int32_t)part[V][i]);
}

static int64_t list_keys(const sap_ray_run* run, int64_t first, int count, sap_ray_key* keys) {
    const mesh_view mesh = view_mesh(run->tree);
    int64_t listed = 0;
    real side = 0;
    for (int k = 0; k < 3; k++) side = mesh.upper[k] - mesh.lower[k] > side ? mesh.upper[k] - mesh.lower[k] : side;
    const real scale = (1 << SAP_RAY_ORIGIN_BITS) / side;
    for (int at = 0; at < count; at += LANES) {
        const int n = count - at < LANES ? count - at : LANES;
        packet p;
        vreal d[3];
        uint32_t numbers[LANES], order[LANES];
        for (int i = 0; i < LANES; i++) numbers[i] = (uint32_t)(first + at + i);
        packet_gather(&p, d, run->job.rays, numbers, n);
        for (int k = 0; k < 3; k++) d[k] = v_add(d[k], v_set(0)); // -0 becomes 0
        const uint32_t in_box = lanes_in_box(&mesh, &p, d, n, run->magnitude);
        for (uint32_t out = lanes_below(n) & ~in_box; out; out &= out - 1)
            answer_none(run, first + at + __builtin_ctz(out));
        if (!in_box) continue;
        orders_of(&mesh, &p, d, scale, order);
        for (uint32_t in = in_box; in; in &= in - 1) {
            const int i = __builtin_ctz(in);
            keys[listed++] = (sap_ray_key){order[i], numbers[i]};
        }
    }
    return listed;
}

#endif

// ---- Blocks

enum { CLASSES = 24 };

// Whether rays have near origins and similar directions.
INLINE bool are_near(const sap_ray_run* run, const sap_ray* rays, int count) {
    real low[8], high[8], longest_side = 0;
    memcpy(low, rays, sizeof low);
    memcpy(high, rays, sizeof high);
    for (int i = 1; i < count; i++) {
        real ray[8]; // origin, t_min, direction, t_max
        memcpy(ray, rays + i, sizeof ray);
        for (int k = 0; k < 8; k++) {
            low[k] = ray[k] < low[k] ? ray[k] : low[k];
            high[k] = ray[k] > high[k] ? ray[k] : high[k];
        }
    }
    for (int k = 0; k < 3; k++) {
        real side = run->tree->shape.upper[k] - run->tree->shape.lower[k];
        longest_side = side > longest_side ? side : longest_side;
    }
    bool near = true;
    for (int k = 0; k < 3; k++)
        near = near && high[k] - low[k] <= longest_side * 0.25f && high[4 + k] - low[4 + k] <= 0.5f;
    return near;
}

static bool trace_block(const sap_ray_run* run, int64_t first, int count) {
    const sap_ray* rays = run->job.rays + first;
    uint8_t class_of[SAP_RAY_BLOCK];
    uint32_t numbers[SAP_RAY_BLOCK];
    int ends[CLASSES + 1] = {0}, at[CLASSES], packets = 0;
    SAP_ASSERT(count > 0 && count <= SAP_RAY_BLOCK && first + count <= run->job.count);
    for (int i = 0; i < count; i++) {
        class_of[i] = (uint8_t)sap_ray_class(rays + i);
        SAP_ASSERT(class_of[i] < CLASSES);
        ends[class_of[i] + 1]++;
    }
    for (int c = 0; c < CLASSES; c++) packets += (ends[c + 1] + LANES - 1) / LANES;
    if (packets * LANES > 2 * count + LANES || !are_near(run, rays, count)) return false;
    for (int c = 0; c < CLASSES; c++) {
        at[c] = ends[c];
        ends[c + 1] += ends[c];
    }
    for (int i = 0; i < count; i++) numbers[at[class_of[i]]++] = (uint32_t)(first + i);
    for (int c = 0; c < CLASSES; c++)
        for (int i = ends[c]; i < ends[c + 1]; i += LANES)
            trace_alike(run, numbers + i, ends[c + 1] - i < LANES ? ends[c + 1] - i : LANES, (uint32_t)c & 7);
    return true;
}

static void trace_few(const sap_ray_run* run) {
    mesh_view mesh = view_mesh(run->tree);
    for (uint32_t i = 0; i < run->job.count; i++) {
        packet p;
        found f;
        vreal direction[3];
        packet_repeat(&p, direction, run->job.rays + i);
        packet_prepare(&p, direction, 1, sap_ray_class(run->job.rays + i) & 7, run->magnitude);
        p.mixed = true; // so that leaves always test several triangles at once
        begin(run, &p, &i, 1, &f);
        if (run->job.occluded)
            walk_one(&mesh, &p, &f, FIND_ANY);
        else if (run->job.limit)
            walk_one(&mesh, &p, &f, FIND_ALL);
        else
            walk_one(&mesh, &p, &f, FIND_FIRST);
        answer(run, &i, 1, &f, mesh.ids);
    }
}

const sap_ray_kernels SAP_KERNEL_OF_FLOAT(ray_kernels) = {trace_few, trace_block, LIST_KEYS, trace_ordered};

#endif
