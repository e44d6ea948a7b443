// The light of photons at points on a GPU. Few photons that count are added up where they are found (near_cuda.h). Else a
// thread adds up the row of nearest photons of a point: all that are near, in rows of more and more.
#include "render/photons/near_cuda.h"

extern "C" {
#include "base/assert.h"
#include "render/photons/estimate.h"
#include "render/photons/swarm.h"
#include "sapwood/points.h"
}

#ifdef SAP_CUDA_ON_CPU // little, so that tests need several parts
enum { WITHIN_ROOM = 1 << 8, WITHIN_MOST = 1 << 5 };
#else
enum {
    WITHIN_ROOM = 1 << 26, // entries of rows of all photons within a radius that are listed together
    WITHIN_MOST = 1 << 18  // points whose photons within a radius are counted together
};
#endif
enum {
    ROW_THREADS = 128,
    ROOM = 1 << 26 // entries of rows of nearest photons that are looked up together
};

static __global__ void __launch_bounds__(ROW_THREADS)
    photon_rows(const __grid_constant__ sap_photon_rows rows, int64_t count, int32_t* open,
                unsigned long long* opened) {
    const int64_t row = (int64_t)blockIdx.x * ROW_THREADS + threadIdx.x;
    if (row >= count || sap_photon_row(&rows, row)) return;
    open[atomicAdd(opened, 1ull)] = (int32_t)(rows.which ? rows.which[row] : rows.from + row);
}

static __global__ void __launch_bounds__(ROW_THREADS)
    photon_choose(const float* coords, int64_t stride, const int32_t* which, int64_t count, float* chosen) {
    const int64_t row = (int64_t)blockIdx.x * ROW_THREADS + threadIdx.x;
    if (row >= count) return;
    for (int a = 0; a < 3; a++) chosen[3 * row + a] = coords[which[row] * stride + a];
}

// Points whose rows are looked up together. Arrays lie on the device.
typedef struct look {
    sap_cuda_call* call;
    const sap_photons* map;
    sap_rows points; // all
    sap_photon_rows rows;
    int32_t *which, *open; // [points.count] those of this round, and of the next
    unsigned long long* opened;
    float* coords; // of points that are not all of them
    int32_t* ids;
    float* distance2;
} look;

static sap_points chosen(look* l, int64_t from, int64_t count) {
    sap_points points = {l->coords, count, 3, 3};
    if (l->rows.which) {
        sap_cuda_launch(l->call, photon_choose, sap_cuda_grid_for(count, ROW_THREADS), (const float*)l->points.coords,
                        l->points.stride, l->rows.which, count, l->coords);
    } else {
        points.coords = (const float*)l->points.coords + from * l->points.stride;
        points.stride = l->points.stride;
    }
    return points;
}

static void add_rows(look* l, int64_t count) {
    sap_cuda_launch(l->call, photon_rows, sap_cuda_grid_for(count, ROW_THREADS), l->rows, count, l->open, l->opened);
}

static void look_nearest(look* l, int64_t from, int64_t count) {
    sap_search search = {};
    search.k = (int32_t)l->rows.want;
    search.radius = (double)l->rows.search.radius;
    const sap_points points = chosen(l, from, count);
    if (l->call->status == SAP_OK) l->call->status = sap_nearest(l->map->tree, points, &search, l->ids, l->distance2);
    l->rows.ids = l->ids;
    l->rows.distance2 = l->distance2;
    add_rows(l, count);
}

// All photons within the radius.
static void look_within(look* l, int64_t from, int64_t count) {
    sap_neighbors* found = NULL;
    SAP_ASSERT(!l->rows.which); // all rows are of one round
    l->rows.from = from;
    sap_search search = {};
    search.radius = sap_photon_reach(&l->rows.search);
    search.sorted = true;
    const sap_points points = chosen(l, from, count);
    if (l->call->status == SAP_OK) l->call->status = sap_radius_search(l->map->tree, points, &search, &found);
    if (l->call->status == SAP_OK) {
        l->rows.all = true;
        l->rows.offsets = found->offsets;
        l->rows.ids = found->ids;
        l->rows.distance2 = found->distance2;
        add_rows(l, count);
    }
    sap_neighbors_free(found);
}

// The same for as many points at a time as rows have room for, and one at least. counts[count] is host memory.
static void look_within_room(look* l, int64_t first, int64_t count, int64_t* counts) {
    const sap_points points = chosen(l, first, count);
    if (l->call->status == SAP_OK)
        l->call->status = sap_radius_count(l->map->tree, points, sap_photon_reach(&l->rows.search), counts);
    for (int64_t from = 0, to; from < count && l->call->status == SAP_OK; from = to) {
        int64_t entries = counts[from];
        for (to = from + 1; to < count && entries + counts[to] <= WITHIN_ROOM; to++) entries += counts[to];
        look_within(l, first + from, to - from);
    }
}

// A round looks `count` points up in rows of `want`; how many need longer ones.
static int64_t look_round(look* l, int64_t count, int64_t chunk) {
    unsigned long long opened = 0;
    sap_cuda_fill(l->call, l->opened, 0, sizeof *l->opened);
    const int32_t* which = l->rows.which;
    sap_scratch counts = {};
    if (!l->rows.search.k && l->call->status == SAP_OK &&
        !sap_scratch_take(l->map->device, (size_t)chunk * sizeof(int64_t), &counts))
        l->call->status = sap_fail(l->map->device, SAP_ERROR_MEMORY, "no memory for %lld points", (long long)chunk);
    for (int64_t from = 0; from < count && l->call->status == SAP_OK; from += chunk) {
        const int64_t some = count - from < chunk ? count - from : chunk;
        l->rows.from = from;
        l->rows.which = which ? which + from : NULL;
        if (l->rows.search.k)
            look_nearest(l, from, some);
        else
            look_within_room(l, from, some, (int64_t*)(void*)counts.memory);
    }
    sap_scratch_give(l->map->device, &counts);
    sap_cuda_fetch(l->call, &opened, l->opened, sizeof opened);
    return (int64_t)opened;
}

static void look_rounds(look* l) {
    const int64_t n = l->map->info.count, k = l->rows.search.k;
    int64_t left = l->points.count;
    for (int64_t want = k + 1 + k / 4; left && l->call->status == SAP_OK; want *= 4) {
        const int64_t most = k ? (int64_t)ROOM : (int64_t)WITHIN_MOST;
        l->rows.want = k == 0 ? 1 : want < n ? want : n;
        l->rows.all = l->rows.want == n;
        int64_t chunk = most / l->rows.want < 1 ? 1 : most / l->rows.want;
        if (chunk > left) chunk = left;
        const size_t entries = k ? (size_t)(chunk * l->rows.want) : 0;
        l->ids = (int32_t*)sap_cuda_take(l->call, entries * sizeof *l->ids);
        l->distance2 = (float*)sap_cuda_take(l->call, entries * sizeof *l->distance2);
        l->coords = (float*)sap_cuda_take(l->call, l->rows.which ? (size_t)chunk * 3 * sizeof *l->coords : 0);
        left = look_round(l, left, chunk);
        sap_cuda_give(l->call, l->coords);
        sap_cuda_give(l->call, l->distance2);
        sap_cuda_give(l->call, l->ids);
        int32_t* before = l->which;
        l->rows.which = l->which = l->open;
        l->open = before;
    }
}

static void estimate(sap_cuda_call* call, const sap_photons* map, const sap_points* points, const float* normals,
                     const sap_photon_search* search, bool ordered, float* light) {
    const size_t count = (size_t)points->count, three = 3 * count * sizeof(float);
    const sap_rows rows = {points->coords, points->count, points->stride, 3, 32};
    look l = {};
    l.call = call;
    l.map = map;
    l.rows.photons = map->photons;
    l.rows.search = *search;
    l.rows.light = (float*)sap_cuda_out(call, light, three);
    sap_cuda_fill(call, l.rows.light, 0, three);
    if (map->info.count == 0) return;
    l.points = sap_cuda_rows_in(call, &rows);
    l.rows.normals = (const float*)sap_cuda_in(call, normals, three);
    if (search->k > 0 && search->k < SAP_PHOTONS_NEAR_MOST) {
        const sap_points there = {(const float*)l.points.coords, l.points.count, 3, l.points.stride};
        l.rows.want = search->k < map->info.count ? search->k + 1 : map->info.count;
        sap_photons_near_cuda(call, map, &there, ordered, &l.rows);
        return;
    }
    l.which = (int32_t*)sap_cuda_take(call, count * sizeof *l.which);
    l.open = (int32_t*)sap_cuda_take(call, count * sizeof *l.open);
    l.opened = (unsigned long long*)sap_cuda_take(call, sizeof *l.opened);
    look_rounds(&l);
}

// `ordered`: consecutive points already lie close to one another.
static sap_status estimate_at(const sap_photons* map, const sap_points* points, const float* normals,
                              const sap_photon_search* search, bool ordered, float* light) {
    sap_cuda_call call;
    const sap_status status = sap_cuda_begin(&call, map->device);
    if (status == SAP_OK) estimate(&call, map, points, normals, search, ordered, light);
    return sap_cuda_end(&call, status);
}

sap_status sap_photons_estimate_cuda(const sap_photons* map, const sap_points* points, const float* normals,
                                     const sap_photon_search* search, float* light) {
    return estimate_at(map, points, normals, search, false, light);
}

// ---- The light of a picture's maps

// The surfaces that a map lights, put together in any order.
typedef struct lit_points {
    float *points, *normals, *light; // [3*count] each
    int32_t* paths;                  // [count] whose surfaces they are
    unsigned long long* count;
} lit_points;

static __global__ void __launch_bounds__(ROW_THREADS)
    photons_collect(const __grid_constant__ sap_scene_data scene, const __grid_constant__ sap_wavefront w,
                    bool by_caustics, const __grid_constant__ lit_points lit) {
    const int64_t i = (int64_t)blockIdx.x * ROW_THREADS + threadIdx.x;
    if (i >= w.live || !sap_is_lit(&scene, &w.surfaces[i], by_caustics)) return;
    const int64_t place = (int64_t)atomicAdd(lit.count, 1ull);
    sap_vector_put(w.surfaces[i].point, lit.points + 3 * place);
    sap_vector_put(w.surfaces[i].normal, lit.normals + 3 * place);
    lit.paths[place] = (int32_t)i;
}

static __global__ void __launch_bounds__(ROW_THREADS)
    photons_add(const __grid_constant__ sap_wavefront w, const __grid_constant__ lit_points lit, int64_t count) {
    const int64_t i = (int64_t)blockIdx.x * ROW_THREADS + threadIdx.x;
    if (i >= count) return;
    const int32_t path = lit.paths[i];
    SAP_ASSERT(w.paths[path].slot >= 0 && w.paths[path].slot < w.room);
    sap_add_irradiance(&w.surfaces[path], lit.light + 3 * i, &w.found[w.paths[path].slot]);
}

static void add_map(sap_cuda_call* call, sap_picture* p, const sap_photons* map, const lit_points* lit) {
    const sap_wavefront* w = &p->wavefront;
    unsigned long long count = 0;
    if (map->info.count == 0) return;
    sap_cuda_fill(call, lit->count, 0, sizeof *lit->count);
    sap_cuda_launch(call, photons_collect, sap_cuda_grid_for(w->live, ROW_THREADS), p->scene, *w, map == p->caustics,
                    *lit);
    sap_cuda_fetch(call, &count, lit->count, sizeof count);
    const sap_points points = {lit->points, (int64_t)count, 3, 3};
    if (call->status == SAP_OK && count)
        // Pixels come nearly row by row: to order them costs more than it spares.
        call->status = estimate_at(map, &points, lit->normals, &p->lighting.search, true, lit->light);
    sap_cuda_launch(call, photons_add, sap_cuda_grid_for((int64_t)count, ROW_THREADS), *w, *lit, (int64_t)count);
}

sap_status sap_lighting_add_cuda(sap_picture* p) {
    sap_cuda_call call;
    const sap_status status = sap_cuda_begin(&call, p->device);
    const size_t room = (size_t)p->wavefront.live, three = room * 3 * sizeof(float);
    lit_points lit;
    lit.points = (float*)sap_cuda_take(&call, three);
    lit.normals = (float*)sap_cuda_take(&call, three);
    lit.light = (float*)sap_cuda_take(&call, three);
    lit.paths = (int32_t*)sap_cuda_take(&call, room * sizeof *lit.paths);
    lit.count = (unsigned long long*)sap_cuda_take(&call, sizeof *lit.count);
    if (status == SAP_OK) add_map(&call, p, p->caustics, &lit);
    if (call.status == SAP_OK) add_map(&call, p, p->global, &lit);
    return sap_cuda_end(&call, status);
}
