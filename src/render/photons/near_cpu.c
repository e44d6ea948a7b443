// The light at points on the CPU, found and added up at once: points are ordered, and threads take runs of them.
#include "base/assert.h"
#include "base/team.h"
#include "device/cpu.h"
#include "device/progress.h"
#include "render/photons/near.h"
#include "render/photons/swarm.h"
#include "tree/queries.h"

#include <string.h>

// ---- Sides. Beside each block of the tree, x…, y…, z… and ids of its slots, lie one of the ways that its photons flew,
// x…, y…, z… and zeros, after all of those one of their normals, and after these what the photons of each box share.

enum { DIMS = 3, LEAVES = 64, GROUPS = 4 };

static const sap_near_kernels* kernels_of(const sap_photons* map) { return sap_cpu_kernels_of(map->device, 32)->near; }

static size_t sides_bytes(const sap_photons* map) {
    return (size_t)sap_turns_at(&map->tree->shape, map->tree->shape.levels) * sizeof(float) + SAP_ALIGNMENT;
}

static void fill_sides(void* context, int64_t from, int64_t to, int32_t worker) {
    const sap_photons* map = context;
    const sap_tree_shape* s = &map->tree->shape;
    const int64_t stride = s->stride;
    (void)worker;
    for (int64_t leaf = from; leaf < to; leaf++) {
        const int64_t at = leaf * stride * (DIMS + 1), count = sap_leaf_rank(s, leaf + 1) - sap_leaf_rank(s, leaf);
        const float* block = (const float*)(const void*)sap_block(map->tree, leaf * stride);
        const int32_t* ids = (const int32_t*)(const void*)(block + DIMS * stride);
        for (int64_t i = 0; i < count; i++) {
            const sap_photon* photon = &map->photons[ids[i]];
            float *way = map->sides + at + i, *normal = way + s->slots * (DIMS + 1);
            for (int a = 0; a < DIMS; a++) way[a * stride] = photon->direction[a];
            for (int a = 0; a < DIMS; a++) normal[a * stride] = photon->normal[a];
        }
    }
}

// Nothing, which becomes more; numbers that are not finite never count, and NaN is left out.
static void begin_turn(float* turns, int box) {
    for (int a = 0; a < SAP_TURN_AXES; a++) {
        turns[2 * a * SAP_GROUP + box] = INFINITY;
        turns[(2 * a + 1) * SAP_GROUP + box] = -INFINITY;
    }
}

static void widen_turn(float* turns, int box, int axis, float from, float to) {
    float *lower = &turns[2 * axis * SAP_GROUP + box], *upper = &turns[(2 * axis + 1) * SAP_GROUP + box];
    if (from < *lower) *lower = from;
    if (to > *upper) *upper = to;
}

static void add_leaf(const sap_photons* map, int64_t leaf, float* turns, int box) {
    const sap_tree_shape* s = &map->tree->shape;
    const int64_t stride = s->stride, count = sap_leaf_rank(s, leaf + 1) - sap_leaf_rank(s, leaf);
    const float* way = map->sides + leaf * stride * (DIMS + 1);
    for (int a = 0; a < SAP_TURN_AXES; a++) {
        const float* x = way + (a < DIMS ? a * stride : s->slots * (DIMS + 1) + (a - DIMS) * stride);
        for (int64_t i = 0; i < count; i++) widen_turn(turns, box, a, x[i], x[i]);
    }
}

static void add_group(const float* below, float* turns, int box) {
    for (int a = 0; a < SAP_TURN_AXES; a++)
        for (int i = 0; i < SAP_GROUP; i++)
            widen_turn(turns, box, a, below[2 * a * SAP_GROUP + i], below[(2 * a + 1) * SAP_GROUP + i]);
}

typedef struct turns_level {
    const sap_photons* map;
    int32_t level;
} turns_level;

static void fill_turns(void* context, int64_t from, int64_t to, int32_t worker) {
    const turns_level* l = context;
    const sap_tree_shape* s = &l->map->tree->shape;
    const int64_t nodes = (int64_t)1 << s->level_depth[l->level];
    const bool leaves = l->level + 1 == s->levels;
    const float* below = leaves ? NULL : l->map->sides + sap_turns_at(s, l->level + 1);
    (void)worker;
    for (int64_t group = from; group < to; group++) {
        float* turns = l->map->sides + sap_turns_at(s, l->level) + group * SAP_TURN_FLOATS;
        for (int i = 0; i < SAP_GROUP; i++) {
            const int64_t node = group * SAP_GROUP + i;
            begin_turn(turns, i);
            if (node >= nodes) continue;
            if (leaves)
                add_leaf(l->map, node, turns, i);
            else
                add_group(below + node * SAP_TURN_FLOATS, turns, i);
        }
    }
}

sap_status sap_sides_make(sap_photons* map) {
    if (!kernels_of(map) || map->info.count == 0) return SAP_OK;
    SAP_ASSERT(map->tree->shape.kind == SAP_TREE_BALANCED && map->tree->shape.count == map->info.count);
    map->sides = sap_memory_allocate_zero(map->device, sides_bytes(map));
    if (!map->sides)
        return sap_fail(map->device, SAP_ERROR_MEMORY, "no memory for the sides of %lld photons",
                        (long long)map->info.count);
    const sap_tree_shape* s = &map->tree->shape;
    sap_team_loop(map->device->options.threads, s->leaves, LEAVES, fill_sides, map);
    for (turns_level l = {map, s->levels - 1}; l.level >= 0; l.level--)
        sap_team_loop(map->device->options.threads, sap_level_groups(s, l.level), GROUPS, fill_turns, &l);
    return SAP_OK;
}

void sap_sides_free(sap_photons* map) {
    if (map->sides) sap_memory_release(map->device, map->sides, sides_bytes(map));
}

// ---- Estimates

typedef struct near_search {
    const sap_near_kernels* kernels;
    sap_near_run whole;
    sap_progress_state* progress;
} near_search;

static void run_range(void* context, int64_t from, int64_t to, int32_t worker) {
    near_search* s = context;
    sap_near_run run = s->whole;
    (void)worker;
    if (!sap_progress_add(s->progress, 0)) return;
    run.coords += DIMS * from;
    run.points += from;
    run.count = to - from;
    s->kernels->estimate(&run);
    sap_progress_add(s->progress, run.count);
}

static void pack(const sap_points* points, sap_query_order* order) {
    for (int64_t i = 0; i < points->count; i++) {
        memcpy(order->coords + (size_t)i * DIMS * sizeof(float), points->coords + i * points->stride,
               DIMS * sizeof(float));
        order->rows[i] = (int32_t)i;
    }
}

static void run_all(near_search* s, const sap_points* points, sap_query_order* order) {
    const sap_rows rows = {points->coords, points->count, points->stride, DIMS, 32};
    s->whole.coords = (const float*)(const void*)order->coords;
    s->whole.points = order->rows;
    for (int64_t first = 0; first < points->count && !s->progress->cancelled; first += SAP_QUERY_SLAB) {
        const int64_t left = points->count - first;
        s->whole.count = left < SAP_QUERY_SLAB ? left : SAP_QUERY_SLAB;
        if (points->count < SAP_QUERY_FEW)
            pack(points, order);
        else
            sap_queries_order(s->whole.tree, &rows, first, s->whole.count, order);
        sap_team_loop(s->whole.tree->device->options.threads, s->whole.count, SAP_NEAR_FEW, run_range, s);
    }
}

sap_status sap_near_estimate(const sap_photons* map, const sap_points* points, const sap_photon_rows* rows,
                             sap_progress_state* progress, sap_scratch* scratch, uint8_t** open) {
    sap_device* device = map->device;
    const int64_t count = points->count, most = count < SAP_QUERY_SLAB ? count : SAP_QUERY_SLAB;
    const double reach = rows->search.k ? (double)rows->search.radius : sap_photon_reach(&rows->search);
    sap_query_order order = {.count = 0};
    SAP_ASSERT(map->sides && rows->search.k <= SAP_NEAR_MOST);
    *open = NULL;
    if (!rows->search.k) {
        if (!sap_scratch_take(device, (size_t)count, scratch))
            return sap_fail(device, SAP_ERROR_MEMORY, "no memory for %lld points", (long long)count);
        *open = scratch->memory;
        memset(*open, 0, (size_t)count);
    }
    near_search s = {.kernels = kernels_of(map),
                     .whole = {.tree = map->tree,
                               .sides = map->sides,
                               .rows = rows,
                               .limit2 = (float)sap_limit2(map->tree, reach > 0 ? reach : INFINITY),
                               .open = *open},
                     .progress = progress};
    const sap_status status = sap_queries_reserve(map->tree, most, false, &order);
    if (status == SAP_OK) run_all(&s, points, &order);
    sap_scratch_give(device, &order.scratch);
    return status;
}

sap_status sap_photons_nearest_cpu(const sap_photons* map, const sap_points* points, const float* normals,
                                   const sap_photon_search* search, float* light) {
    if (search->k < 1 || search->k > SAP_NEAR_MOST)
        return sap_unsupported(map->device, "look up other than up to 1024 nearest photons");
    memset(light, 0, (size_t)points->count * 3 * sizeof *light);
    if (map->info.count == 0) return SAP_OK;
    const sap_photon_rows rows = {.photons = map->photons, .search = *search, .normals = normals, .light = light};
    sap_progress_state progress = sap_progress_begin(map->device, points->count);
    sap_scratch scratch = {0};
    uint8_t* open;
    const sap_status status = sap_near_estimate(map, points, &rows, &progress, &scratch, &open);
    sap_scratch_give(map->device, &scratch);
    if (status != SAP_OK || points->count <= SAP_NEAR_FEW || sap_progress_finish(&progress)) return status;
    return sap_fail(map->device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
}
