// Thinning by a grid, on the host. Points get the number of their cell and are sorted by it; where cells do not number
// 2^64 they are sorted by one axis after another. The sort is stable, so the points of a cell ascend by id.
#include "base/assert.h"
#include "cloud/sort.h"
#include "device/reserved.h"
#include "sapwood/cloud.h"
#include "tree/queries.h"
#include <math.h>
#include <string.h>

typedef struct gridding {
    sap_device* device;
    sap_rows points;
    sap_voxels_options options;
    int64_t count;               // points that are not left out
    int64_t lower[SAP_MAX_DIMS]; // least cell along each axis
    int bits[SAP_MAX_DIMS];      // of cells counted from there
    bool is_split;               // the keys are those of some axes only
    uint32_t* ids;               // [count] sorted by cell
    uint64_t *keys, *spare_keys; // [count]
    uint32_t* spare_ids;         // [count]
    sap_scratch memory;
} gridding;

static double coordinate(const sap_rows* p, int64_t row, int32_t axis) {
    const int64_t at = row * p->stride + axis;
    return p->real_bits == 64 ? ((const double*)p->coords)[at] : (double)((const float*)p->coords)[at];
}

static double cell_along(const gridding* g, double x, int32_t axis) {
    return floor((x - g->options.origin[axis]) / g->options.sizes[axis]);
}

// ---- Checks

static bool is_left_out(const gridding* g, int64_t i) {
    bool is_finite = true;
    for (int32_t a = 0; a < g->points.dims; a++) is_finite = is_finite && isfinite(coordinate(&g->points, i, a));
    return !is_finite && g->options.drop_nonfinite;
}

// What belongs to points that are left out may be anything.
static sap_status check_floats(const gridding* g, const float* values, int64_t width, const char* name) {
    for (int64_t i = 0; values && i < g->points.count * width; i++)
        if (!isfinite(values[i]) && !is_left_out(g, i / width))
            return sap_fail(g->device, SAP_ERROR_NOT_FINITE, "options.%s: %g in row %lld", name, (double)values[i],
                            (long long)(i / width));
    return SAP_OK;
}

static sap_status check(gridding* g) {
    sap_voxels_options* o = &g->options;
    const sap_device* device = g->device;
    sap_status status = sap_rows_check(device, &g->points, "points");
    if (status == SAP_OK) status = sap_reserved_check(device, o->reserved, "options");
    if (status != SAP_OK) return status;
    for (int32_t a = 0; a < g->points.dims; a++) {
        if (!(o->sizes[a] > 0 && isfinite(o->sizes[a])))
            return sap_fail(device, SAP_ERROR_ARGUMENT, "options.sizes[%d]: %g; give one that is above 0 and finite",
                            (int)a, o->sizes[a]);
        if (!isfinite(o->origin[a]))
            return sap_fail(device, SAP_ERROR_ARGUMENT, "options.origin[%d]: is %g", (int)a, o->origin[a]);
    }
    if (o->point < SAP_VOXELS_CENTROID || o->point > SAP_VOXELS_NEAREST)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.point: unknown choice %d", (int)o->point);
    if (o->fewest < 0) return sap_fail(device, SAP_ERROR_ARGUMENT, "options.fewest: %d is negative", (int)o->fewest);
    if (o->attribute_count < 0 || (o->attributes && o->attribute_count == 0))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.attribute_count: %d attributes", (int)o->attribute_count);
    status = check_floats(g, o->normals, 3, "normals");
    return status == SAP_OK ? check_floats(g, o->attributes, o->attribute_count, "attributes") : status;
}

// ---- Cells

// Counts the points and finds the bounds of their cells; cell_of[i] is 0, or -1 for points that are left out.
static sap_status find_bounds(gridding* g, int32_t* cell_of) {
    double upper[SAP_MAX_DIMS], lower[SAP_MAX_DIMS];
    const int32_t dims = g->points.dims;
    for (int32_t a = 0; a < dims; a++) {
        lower[a] = (double)INFINITY;
        upper[a] = -(double)INFINITY;
    }
    for (int64_t i = 0; i < g->points.count; i++) {
        double cells[SAP_MAX_DIMS];
        bool is_finite = true;
        for (int32_t a = 0; a < dims; a++) {
            const double x = coordinate(&g->points, i, a);
            is_finite = is_finite && isfinite(x);
            cells[a] = cell_along(g, x, a);
        }
        if (!is_finite && !g->options.drop_nonfinite)
            return sap_point_refuse(
                g->device, (const char*)g->points.coords + (size_t)(i * g->points.stride * g->points.real_bits / 8),
                dims, g->points.real_bits, i);
        cell_of[i] = is_finite ? 0 : -1;
        if (!is_finite) continue;
        g->count++;
        for (int32_t a = 0; a < dims; a++) {
            if (!(fabs(cells[a]) <= 0x1p52))
                return sap_fail(
                    g->device, SAP_ERROR_RANGE,
                    "options.sizes[%d]: %g is too small, point %lld would be over 2^52 cells from the origin", (int)a,
                    g->options.sizes[a], (long long)i);
            if (cells[a] < lower[a]) lower[a] = cells[a];
            if (cells[a] > upper[a]) upper[a] = cells[a];
        }
    }
    for (int32_t a = 0; a < dims && g->count; a++) {
        g->lower[a] = (int64_t)lower[a];
        const uint64_t span = (uint64_t)((int64_t)upper[a] - (int64_t)lower[a]);
        g->bits[a] = span ? 64 - __builtin_clzll(span) : 0;
    }
    return SAP_OK;
}

static uint64_t cell_from_lower(const gridding* g, int64_t row, int32_t axis) {
    return (uint64_t)((int64_t)cell_along(g, coordinate(&g->points, row, axis), axis) - g->lower[axis]);
}

static void sort_by(gridding* g, int bits) {
    if (!sap_cloud_sort_64(g->keys, g->ids, g->spare_keys, g->spare_ids, g->count, bits)) return;
    uint64_t* const keys = g->keys;
    uint32_t* const ids = g->ids;
    g->keys = g->spare_keys, g->ids = g->spare_ids;
    g->spare_keys = keys, g->spare_ids = ids;
}

// Axes that together have 64 bits at most make one key.
static void sort_points(gridding* g) {
    for (int32_t first = 0; first < g->points.dims;) {
        int32_t end = first;
        int bits = 0;
        while (end < g->points.dims && bits + g->bits[end] <= 64) bits += g->bits[end++];
        for (int64_t i = 0; i < g->count; i++) {
            uint64_t key = 0;
            int shift = 0;
            for (int32_t a = first; a < end; shift += g->bits[a++])
                if (g->bits[a]) key |= cell_from_lower(g, g->ids[i], a) << shift;
            g->keys[i] = key;
        }
        sort_by(g, bits);
        g->is_split = first > 0;
        first = end;
    }
}

static bool is_same_cell(const gridding* g, int64_t i, int64_t j) {
    if (g->keys[i] != g->keys[j]) return false;
    for (int32_t a = 0; a < g->points.dims && g->is_split; a++)
        if (cell_from_lower(g, g->ids[i], a) != cell_from_lower(g, g->ids[j], a)) return false;
    return true;
}

// ---- What is left of a cell

// What a call makes, in one block of memory with the arrays behind it.
typedef struct made {
    sap_thinned voxels;
    sap_device* device;
    size_t bytes;
} made;

void sap_thinned_free(sap_thinned* voxels) {
    made* m = (made*)(void*)voxels;
    if (m) sap_memory_release(m->device, m, m->bytes);
}

static double mean_of(const gridding* g, const float* values, int64_t width, int64_t column, int64_t from, int64_t to) {
    const double first = (double)values[(int64_t)g->ids[from] * width + column];
    double sum = 0;
    for (int64_t i = from; i < to; i++) sum += (double)values[(int64_t)g->ids[i] * width + column] - first;
    return first + sum / (double)(to - from);
}

static int64_t nearest_to_middle(const gridding* g, int64_t from, int64_t to) {
    double least = (double)INFINITY;
    int64_t nearest = from;
    for (int64_t i = from; i < to; i++) {
        double sum = 0;
        for (int32_t a = 0; a < g->points.dims; a++) {
            const double x = coordinate(&g->points, g->ids[i], a);
            const double middle = g->options.origin[a] + (cell_along(g, x, a) + 0.5) * g->options.sizes[a];
            sum += (x - middle) * (x - middle);
        }
        if (sum < least) {
            least = sum;
            nearest = i;
        }
    }
    return nearest;
}

static void put_coordinate(const gridding* g, const sap_thinned* v, int64_t cell, int32_t axis, double value) {
    const int64_t at = cell * v->dims + axis;
    if (g->points.real_bits == 64)
        ((double*)(uintptr_t)v->coords_f64)[at] = value;
    else
        ((float*)(uintptr_t)v->coords)[at] = (float)value;
}

static void put_normal(const gridding* g, float* normal, int64_t from, int64_t to) {
    double mean[3], length = 0;
    for (int a = 0; a < 3; a++) {
        mean[a] = mean_of(g, g->options.normals, 3, a, from, to);
        length += mean[a] * mean[a];
    }
    length = sqrt(length);
    for (int a = 0; a < 3; a++) normal[a] = length > 0 ? (float)(mean[a] / length) : 0.0f;
}

// The points at places from … to - 1 of the sorted ones become one.
static void put_cell(const gridding* g, const sap_thinned* v, int64_t cell, int64_t from, int64_t to) {
    const sap_voxels_options* o = &g->options;
    const bool is_mean = o->point == SAP_VOXELS_CENTROID;
    const int64_t chosen = o->point == SAP_VOXELS_NEAREST ? nearest_to_middle(g, from, to) : from;
    const int64_t id = g->ids[chosen], width = o->attribute_count;
    float *normals = (float*)(uintptr_t)v->normals, *attributes = (float*)(uintptr_t)v->attributes;
    ((int32_t*)(uintptr_t)v->ids)[cell] = (int32_t)id;
    ((int32_t*)(uintptr_t)v->counts)[cell] = (int32_t)(to - from);
    for (int32_t a = 0; a < v->dims; a++) {
        const double first = coordinate(&g->points, id, a);
        double sum = 0;
        for (int64_t i = from; is_mean && i < to; i++) sum += coordinate(&g->points, g->ids[i], a) - first;
        put_coordinate(g, v, cell, a, is_mean ? first + sum / (double)(to - from) : first);
    }
    if (normals && is_mean) put_normal(g, normals + 3 * cell, from, to);
    if (normals && !is_mean) memcpy(normals + 3 * cell, o->normals + 3 * id, 3 * sizeof(float));
    for (int64_t c = 0; attributes && c < width; c++)
        attributes[cell * width + c] =
            is_mean ? (float)mean_of(g, o->attributes, width, c, from, to) : o->attributes[id * width + c];
}

// Calls for each cell with enough points; with v NULL only counts them.
static int64_t go_through(const gridding* g, const sap_thinned* v) {
    int64_t cells = 0;
    for (int64_t from = 0, to; from < g->count; from = to) {
        for (to = from + 1; to < g->count && is_same_cell(g, from, to);) to++;
        const bool is_kept = to - from >= g->options.fewest;
        int32_t* cell_of = v ? (int32_t*)(uintptr_t)v->cell_of : NULL;
        for (int64_t i = from; v && i < to; i++) cell_of[g->ids[i]] = is_kept ? (int32_t)cells : -1;
        if (is_kept && v) put_cell(g, v, cells, from, to);
        cells += is_kept;
    }
    return cells;
}

static sap_status make(const gridding* g, sap_thinned** voxels) {
    const sap_voxels_options* o = &g->options;
    const size_t cells = (size_t)go_through(g, NULL), real = (size_t)g->points.real_bits / 8;
    const size_t small = sap_align(cells * 4), coords = sap_align(cells * (size_t)g->points.dims * real);
    const size_t normals = o->normals ? sap_align(cells * 12) : 0;
    const size_t all = sap_align((size_t)g->points.count * 4);
    size_t attributes = 0;
    if (o->attributes && !sap_size_multiply(cells * 4, (uint64_t)o->attribute_count, &attributes))
        return sap_fail(g->device, SAP_ERROR_MEMORY, "no memory for the attributes of %zu cells", cells);
    const size_t head = sap_align(sizeof(made)), bytes = head + 2 * small + coords + normals + all + attributes;
    made* m = sap_memory_allocate(g->device, bytes);
    if (!m) return sap_fail(g->device, SAP_ERROR_MEMORY, "no memory for %zu cells", cells);
    unsigned char* at = (unsigned char*)(void*)m + head;
    *m = (made){.device = g->device, .bytes = bytes};
    sap_thinned* v = &m->voxels;
    v->count = (int64_t)cells;
    v->dims = g->points.dims;
    v->ids = (int32_t*)(void*)at;
    v->counts = (int32_t*)(void*)(at + small);
    at += 2 * small;
    if (g->points.real_bits == 64)
        v->coords_f64 = (double*)(void*)at;
    else
        v->coords = (float*)(void*)at;
    at += coords;
    if (o->normals) v->normals = (float*)(void*)at;
    at += normals;
    v->cell_of = (int32_t*)(void*)at;
    at += all;
    if (o->attributes) v->attributes = (float*)(void*)at;
    memset((int32_t*)(uintptr_t)v->cell_of, 0xff, (size_t)g->points.count * 4);
    go_through(g, v);
    *voxels = v;
    return SAP_OK;
}

static sap_status thin(gridding* g, sap_thinned** voxels) {
    const size_t n = (size_t)g->points.count, words = sap_align(n * 8), ids = sap_align(n * 4);
    if (!sap_scratch_take(g->device, 2 * words + 2 * ids + 1, &g->memory))
        return sap_fail(g->device, SAP_ERROR_MEMORY, "no memory to sort %zu points", n);
    g->keys = (uint64_t*)(void*)g->memory.memory;
    g->spare_keys = (uint64_t*)(void*)(g->memory.memory + words);
    g->ids = (uint32_t*)(void*)(g->memory.memory + 2 * words);
    g->spare_ids = (uint32_t*)(void*)(g->memory.memory + 2 * words + ids);
    int32_t* left_out = (int32_t*)(void*)g->keys; // which are not needed yet
    const sap_status status = find_bounds(g, left_out);
    if (status != SAP_OK) return status;
    int64_t count = 0;
    for (int64_t i = 0; i < g->points.count; i++)
        if (left_out[i] == 0) g->ids[count++] = (uint32_t)i;
    SAP_ASSERT(count == g->count);
    sort_points(g);
    return make(g, voxels);
}

static sap_status thin_rows(sap_device* device, sap_rows points, const sap_voxels_options* options,
                            sap_thinned** voxels) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!options) return sap_fail(device, SAP_ERROR_ARGUMENT, "options: is NULL");
    if (!voxels) return sap_fail(device, SAP_ERROR_ARGUMENT, "voxels: is NULL");
    gridding g = {.device = device, .points = points, .options = *options};
    sap_status status = check(&g);
    if (status == SAP_OK) status = thin(&g, voxels);
    sap_scratch_give(device, &g.memory);
    return status;
}

sap_status sap_cloud_voxels(sap_device* device, sap_points points, const sap_voxels_options* options,
                            sap_thinned** voxels) {
    return thin_rows(device, sap_rows_f32(points), options, voxels);
}

sap_status sap_cloud_voxels_f64(sap_device* device, sap_points_f64 points, const sap_voxels_options* options,
                                sap_thinned** voxels) {
    return thin_rows(device, sap_rows_f64(points), options, voxels);
}
