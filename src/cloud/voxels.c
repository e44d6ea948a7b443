// The public functions for thinning by a grid: they check arguments, then call the processor's; and the memory of results.
#include "cloud/voxels.h"
#include "base/assert.h"
#include "cloud/ops.h"
#include "device/reserved.h"
#include "tree/queries.h"

// ---- Refusals

sap_status sap_voxels_refuse_value(const sap_device* device, const char* name, float value, int64_t row) {
    return sap_fail(device, SAP_ERROR_NOT_FINITE, "options.%s: %g in row %lld", name, (double)value, (long long)row);
}

sap_status sap_voxels_refuse_point(const sap_device* device, const sap_gridding* g, const void* coords, int64_t row) {
    sap_gridding alone = *g;
    double cells[SAP_MAX_DIMS], point[SAP_MAX_DIMS];
    int32_t axis = 0;
    alone.points.coords = coords;
    const bool is_finite = sap_voxel_look(&alone, 0, cells) != SAP_VOXEL_NOT_FINITE;
    bool is_square = true;
    for (int32_t a = 0; a < g->points.dims; a++) {
        const double x = sap_voxel_coordinate(&alone, 0, a);
        point[a] = is_finite || !isfinite(x) ? x : 0; // what is not finite is at fault, however large the others are
        is_square = is_square && fabs(point[a]) <= g->most;
    }
    if (!is_square) return sap_point_refuse(device, point, g->points.dims, 64, row);
    while (fabs(sap_voxel_along(&alone, 0, axis)) <= 0x1p52) axis++;
    return sap_fail(device, SAP_ERROR_RANGE,
                    "options.sizes[%d]: %g is too small, point %lld would be over 2^52 cells from the origin",
                    (int)axis, g->options.sizes[axis], (long long)row);
}

static sap_status check(const sap_device* device, const sap_gridding* g) {
    const sap_voxels_options* o = &g->options;
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
    return SAP_OK;
}

// ---- Cells

void sap_voxels_bound(sap_gridding* g, const int64_t* lower, const int64_t* upper) {
    for (int32_t a = 0; a < g->points.dims && g->count; a++) {
        const uint64_t span = (uint64_t)(upper[a] - lower[a]);
        g->lower[a] = lower[a];
        g->bits[a] = span ? 64 - __builtin_clzll(span) : 0;
    }
}

int32_t sap_voxels_group(const sap_gridding* g, int32_t first, int32_t* bits) {
    int32_t end = first;
    *bits = 0;
    while (end < g->points.dims && *bits + g->bits[end] <= 64) *bits += g->bits[end++];
    return end;
}

// ---- Results in memory

// The user's pointer is to the first member.
typedef struct owned_voxels {
    sap_thinned voxels;
    sap_device* device;
    sap_scratch memory; // of all arrays
    sap_voxels_release* release;
} owned_voxels;

// Where each array ends that is there; false: beyond what memory can hold.
static bool lay_out(const sap_gridding* g, int64_t cells, size_t ends[6]) {
    const sap_voxels_options* o = &g->options;
    const uint64_t n = (uint64_t)cells, dims = (uint64_t)g->points.dims;
    const size_t real = (size_t)g->points.real_bits / 8;
    const uint64_t widths[6] = {
        4, 4, dims * real, o->normals ? 12 : 0, 0, o->attributes ? 4 * (uint64_t)o->attribute_count : 0};
    size_t at = 0;
    for (int i = 0; i < 6; i++) {
        size_t bytes;
        if (i == 4) // cell_of
            bytes = (size_t)g->points.count * 4;
        else if (!sap_size_multiply(n, widths[i], &bytes))
            return false;
        if (bytes > PTRDIFF_MAX - SAP_ALIGNMENT || !sap_size_add(at, sap_align(bytes), &at) || at > PTRDIFF_MAX)
            return false;
        ends[i] = at;
    }
    return true;
}

sap_status sap_voxels_bytes(const sap_device* device, const sap_gridding* g, int64_t cells, size_t* bytes) {
    size_t ends[6];
    if (!lay_out(g, cells, ends))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory for the attributes of %lld cells", (long long)cells);
    *bytes = ends[5];
    return SAP_OK;
}

void sap_voxels_place(const sap_gridding* g, int64_t cells, unsigned char* memory, sap_thinned* voxels) {
    size_t ends[6];
    const bool fits = lay_out(g, cells, ends);
    SAP_ASSERT(fits);
    SAP_UNUSED(fits)
    *voxels = (sap_thinned){.count = cells, .dims = g->points.dims};
    voxels->ids = (const int32_t*)(const void*)memory;
    voxels->counts = (const int32_t*)(const void*)(memory + ends[0]);
    if (g->points.real_bits == 64)
        voxels->coords_f64 = (const double*)(const void*)(memory + ends[1]);
    else
        voxels->coords = (const float*)(const void*)(memory + ends[1]);
    if (g->options.normals) voxels->normals = (const float*)(const void*)(memory + ends[2]);
    voxels->cell_of = (const int32_t*)(const void*)(memory + ends[3]);
    if (g->options.attributes) voxels->attributes = (const float*)(const void*)(memory + ends[4]);
}

sap_status sap_voxels_adopt(sap_device* device, const sap_gridding* g, int64_t cells, sap_scratch memory,
                            sap_voxels_release* release, sap_thinned** voxels) {
    owned_voxels* made = sap_memory_allocate(device, sizeof *made);
    if (!made) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for the result");
    *made = (owned_voxels){.device = device, .memory = memory, .release = release};
    sap_voxels_place(g, cells, memory.memory, &made->voxels);
    made->voxels.on_device = release != NULL;
    *voxels = &made->voxels;
    return SAP_OK;
}

void sap_thinned_free(sap_thinned* voxels) {
    owned_voxels* owned = (owned_voxels*)(void*)voxels;
    if (!owned) return;
    if (owned->release)
        owned->release(owned->device, owned->memory.memory, owned->memory.bytes);
    else
        sap_memory_release(owned->device, owned->memory.memory, owned->memory.bytes);
    sap_memory_release(owned->device, owned, sizeof *owned);
}

// ---- The call

static sap_status thin_rows(sap_device* device, sap_rows points, const sap_voxels_options* options,
                            sap_thinned** voxels) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!options) return sap_fail(device, SAP_ERROR_ARGUMENT, "options: is NULL");
    if (!voxels) return sap_fail(device, SAP_ERROR_ARGUMENT, "voxels: is NULL");
    sap_gridding g = {.points = points, .options = *options};
    sap_voxels_job job = {device, &g, NULL};
    sap_status status = check(device, &g);
    if (status == SAP_OK) g.most = sap_largest_coordinate(64, points.dims);
    // Whoever has no loops of its own lets the host's do it.
    const sap_cloud_ops* ops = device->rooms.cloud;
    if (status == SAP_OK) status = ops && ops->voxels ? ops->voxels(&job) : sap_cloud_voxels_cpu(&job);
    if (status == SAP_OK) *voxels = job.voxels;
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
