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

// Traces up to LANES rays of one octant.
INLINE void trace(const sap_ray_run* run, const uint32_t* numbers, int n, uint32_t octant, const bool coherent) {
    mesh_view mesh = view_mesh(run->tree);
    packet p;
    found f;
    vreal direction[3];
    packet_gather(&p, direction, run->job.rays, numbers, n);
    packet_prepare(&p, direction, n, octant, run->magnitude);
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

const sap_ray_kernels SAP_KERNEL_OF_FLOAT(ray_kernels) = {trace_few, trace_block, trace_ordered};

#endif
