// Thinning by a grid, on the host. Points get the number of their cell and are sorted by it; where cells do not number
// 2^64 they are sorted by one group of axes after another. The sort is stable, so the points of a cell ascend by id.
#include "base/assert.h"
#include "cloud/ops.h"
#include "cloud/sort.h"
#include "cloud/voxels.h"

enum { AHEAD = 24 }; // points

typedef struct thinning {
    sap_device* device;
    sap_gridding g;
    uint32_t *ids, *spare_ids;   // [count] sorted by cell
    uint64_t *keys, *spare_keys; // [count]
    sap_scratch memory;
} thinning;

// ---- Checks

// What belongs to points that are left out may be anything.
static sap_status check_floats(const thinning* t, const float* values, int64_t width, const char* name) {
    double cells[SAP_MAX_DIMS];
    for (int64_t i = 0; values && i < t->g.points.count * width; i++)
        if (!isfinite(values[i]) &&
            !(t->g.options.drop_nonfinite && sap_voxel_look(&t->g, i / width, cells) == SAP_VOXEL_NOT_FINITE))
            return sap_voxels_refuse_value(t->device, name, values[i], i / width);
    return SAP_OK;
}

static sap_status check(const thinning* t) {
    const sap_voxels_options* o = &t->g.options;
    const sap_status status = check_floats(t, o->normals, 3, "normals");
    return status == SAP_OK ? check_floats(t, o->attributes, o->attribute_count, "attributes") : status;
}

// ---- Cells

// Lists the points that are not left out, and finds the bounds of their cells.
static sap_status list_points(thinning* t) {
    sap_gridding* g = &t->g;
    int64_t lower[SAP_MAX_DIMS] = {0}, upper[SAP_MAX_DIMS] = {0};
    for (int64_t i = 0; i < g->points.count; i++) {
        double cells[SAP_MAX_DIMS];
        const sap_voxel_fault fault = sap_voxel_look(g, i, cells);
        if (fault == SAP_VOXEL_NOT_FINITE && g->options.drop_nonfinite) continue;
        if (fault != SAP_VOXEL_FITS)
            return sap_voxels_refuse_point(
                t->device, g, (const char*)g->points.coords + (size_t)(i * g->points.stride * g->points.real_bits / 8),
                i);
        for (int32_t a = 0; a < g->points.dims; a++) {
            const int64_t cell = (int64_t)cells[a];
            if (g->count == 0 || cell < lower[a]) lower[a] = cell;
            if (g->count == 0 || cell > upper[a]) upper[a] = cell;
        }
        t->ids[g->count++] = (uint32_t)i;
    }
    sap_voxels_bound(g, lower, upper);
    return SAP_OK;
}

static void sort_by(thinning* t, int bits) {
    if (!sap_cloud_sort_64(t->keys, t->ids, t->spare_keys, t->spare_ids, t->g.count, bits)) return;
    uint64_t* const keys = t->keys;
    uint32_t* const ids = t->ids;
    t->keys = t->spare_keys, t->ids = t->spare_ids;
    t->spare_keys = keys, t->spare_ids = ids;
}

static void sort_points(thinning* t) {
    for (int32_t first = 0, end; first < t->g.points.dims; first = end) {
        int32_t bits;
        end = sap_voxels_group(&t->g, first, &bits);
        for (int64_t i = 0; i < t->g.count; i++) t->keys[i] = sap_voxel_key(&t->g, t->ids[i], first, end);
        sort_by(t, bits);
        t->g.is_split = first > 0;
    }
}

// ---- What is left of a cell

static double mean_of(const thinning* t, int32_t column, int64_t from, int64_t to) {
    const sap_voxel_column numbers = sap_voxel_column_of(&t->g, column);
    const double first = sap_voxel_number(&numbers, t->ids[from]);
    double sum = 0;
    for (int64_t i = from; i < to; i++) sum += sap_voxel_number(&numbers, t->ids[i]) - first;
    return first + sum / (double)(to - from);
}

static int64_t nearest_to_middle(const thinning* t, int64_t from, int64_t to) {
    double least = (double)INFINITY;
    int64_t nearest = from;
    for (int64_t i = from; i < to; i++) {
        const double off2 = sap_voxel_off_middle2(&t->g, t->ids[i]);
        if (off2 < least) {
            least = off2;
            nearest = i;
        }
    }
    return nearest;
}

// The points at places from … to - 1 of the sorted ones become one.
static void put_cell(const thinning* t, const sap_thinned* v, int64_t cell, int64_t from, int64_t to) {
    const sap_gridding* g = &t->g;
    const bool is_mean = g->options.point == SAP_VOXELS_CENTROID;
    const int64_t id = t->ids[g->options.point == SAP_VOXELS_NEAREST ? nearest_to_middle(t, from, to) : from];
    const int32_t dims = v->dims, columns = sap_voxel_columns(g);
    ((int32_t*)(uintptr_t)v->ids)[cell] = (int32_t)id;
    ((int32_t*)(uintptr_t)v->counts)[cell] = (int32_t)(to - from);
    for (int32_t c = 0; c < columns; c++) {
        const sap_voxel_column numbers = sap_voxel_column_of(g, c);
        sap_voxel_put(g, v, cell, c, is_mean ? mean_of(t, c, from, to) : sap_voxel_number(&numbers, id));
    }
    if (!is_mean || !v->normals) return;
    double normal[3];
    for (int a = 0; a < 3; a++) normal[a] = mean_of(t, dims + a, from, to);
    sap_voxel_normalize(normal);
    for (int a = 0; a < 3; a++) sap_voxel_put(g, v, cell, dims + a, normal[a]);
}

// Points of a cell lie anywhere: those of later ones are on their way while one is made.
static void ask_ahead(const thinning* t, const int32_t* cell_of, int64_t place) {
    if (place + AHEAD >= t->g.count) return;
    const int64_t row = t->ids[place + AHEAD];
    __builtin_prefetch((const char*)t->g.points.coords +
                       (size_t)(row * t->g.points.stride * t->g.points.real_bits / 8));
    __builtin_prefetch(cell_of + row, 1);
}

// Calls for each cell with enough points; with v NULL only counts them.
static int64_t go_through(const thinning* t, const sap_thinned* v) {
    int64_t cells = 0;
    for (int64_t from = 0, to; from < t->g.count; from = to) {
        for (to = from + 1; to < t->g.count && sap_voxel_is_same(&t->g, t->keys, t->ids, from, to);) to++;
        const bool is_kept = to - from >= t->g.options.fewest;
        int32_t* cell_of = v ? (int32_t*)(uintptr_t)v->cell_of : NULL;
        for (int64_t i = from; v && i < to; i++) {
            ask_ahead(t, cell_of, i);
            cell_of[t->ids[i]] = is_kept ? (int32_t)cells : -1;
        }
        if (is_kept && v) put_cell(t, v, cells, from, to);
        cells += is_kept;
    }
    return cells;
}

static sap_status make(const thinning* t, sap_thinned** voxels) {
    const int64_t cells = go_through(t, NULL);
    sap_scratch memory = {NULL, 0};
    sap_status status = sap_voxels_bytes(t->device, &t->g, cells, &memory.bytes);
    if (status != SAP_OK) return status;
    memory.memory = sap_memory_allocate(t->device, memory.bytes);
    if (!memory.memory) return sap_fail(t->device, SAP_ERROR_MEMORY, "no memory for %lld cells", (long long)cells);
    status = sap_voxels_adopt(t->device, &t->g, cells, memory, NULL, voxels);
    if (status != SAP_OK) {
        sap_memory_release(t->device, memory.memory, memory.bytes);
        return status;
    }
    memset((int32_t*)(uintptr_t)(*voxels)->cell_of, 0xff, (size_t)t->g.points.count * 4);
    go_through(t, *voxels);
    return SAP_OK;
}

sap_status sap_cloud_voxels_cpu(sap_voxels_job* job) {
    thinning t = {.device = job->device, .g = *job->gridding};
    const size_t n = (size_t)t.g.points.count, words = sap_align(n * 8), ids = sap_align(n * 4);
    sap_status status = check(&t);
    if (status != SAP_OK) return status;
    if (!sap_scratch_take(t.device, 2 * words + 2 * ids + 1, &t.memory))
        return sap_fail(t.device, SAP_ERROR_MEMORY, "no memory to sort %zu points", n);
    t.keys = (uint64_t*)(void*)t.memory.memory;
    t.spare_keys = (uint64_t*)(void*)(t.memory.memory + words);
    t.ids = (uint32_t*)(void*)(t.memory.memory + 2 * words);
    t.spare_ids = (uint32_t*)(void*)(t.memory.memory + 2 * words + ids);
    status = list_points(&t);
    if (status == SAP_OK) {
        sort_points(&t);
        status = make(&t, &job->voxels);
    }
    sap_scratch_give(t.device, &t.memory);
    return status;
}
