// Searches from the places of a grid: a device's own, or its search for rows of queries, some rows of the grid at a
// time.
#include "nearest/grid/grid.h"
#include "base/team.h"
#include "nearest/ops.h"
#include "radius/ops.h"
#include "tree/queries.h"
#include <math.h>

enum {
    PLACES = 1 << 18, // asked at a time
    GRAIN = 4096      // of them, what is worth a thread
};

static sap_status check(const sap_tree* tree, const sap_grid* grid) {
    const sap_device* device = tree->device;
    if (grid->width < 1 || grid->height < 1)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "grid: %d x %d places; both numbers must be at least 1",
                        (int)grid->width, (int)grid->height);
    if (tree->shape.real_bits != 32)
        return sap_fail(device, SAP_ERROR_UNSUPPORTED,
                        "tree: holds 64-bit points; searches from a grid need a tree of floats");
    return SAP_OK;
}

typedef struct placing {
    const sap_grid* grid;
    int32_t dims, first; // the first row
    float* queries;
} placing;

static void place_rows(void* context, int64_t from, int64_t to, int32_t worker) {
    const placing* p = context;
    (void)worker;
    for (int64_t y = from; y < to; y++) {
        float* at = p->queries + y * p->grid->width * p->dims;
        float down[SAP_MAX_DIMS];
        for (int32_t a = 0; a < p->dims; a++) down[a] = sap_grid_row(p->grid, p->first + (int32_t)y, a);
        for (int32_t x = 0; x < p->grid->width; x++)
            for (int32_t a = 0; a < p->dims; a++) *at++ = sap_grid_column(p->grid, x, a) + down[a];
    }
}

// The places of rows [first, first + count) as queries.
static void place(const sap_tree* tree, const sap_grid* grid, int32_t first, int32_t count, float* queries) {
    placing p = {grid, tree->shape.dims, first, queries};
    sap_team_loop(tree->device->options.threads, count, GRAIN / grid->width + 1, place_rows, &p);
}

// Asks for rows [first, first + count) of the grid, whose queries are in place.
static sap_status ask(const sap_tree* tree, const sap_grid_job* job, const sap_search* search, const sap_rows* rows,
                      int64_t before) {
    if (job->k == 0) {
        sap_radius_job part = {.queries = *rows, .limit2 = (double)job->limit2, .counts = job->counts + before};
        return tree->device->rooms.radius->search(tree, &part);
    }
    sap_nearest_job part = {.queries = *rows, .search = *search, .limit2 = (double)job->limit2};
    part.ids = job->ids + before * job->k;
    part.distance2 = job->distance2 ? job->distance2 + before * job->k : NULL;
    return tree->device->rooms.nearest->search(tree, &part);
}

static sap_status ask_by_rows(const sap_tree* tree, const sap_grid_job* job, const sap_search* search) {
    const sap_grid* grid = job->grid;
    int32_t dims = tree->shape.dims, step = PLACES / grid->width > 1 ? PLACES / grid->width : 1;
    if (step > grid->height) step = grid->height;
    sap_scratch scratch = {NULL, 0};
    if (!sap_scratch_take(tree->device, (size_t)step * (size_t)grid->width * (size_t)dims * sizeof(float), &scratch))
        return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory for queries");
    float* queries = (float*)(void*)scratch.memory;
    sap_status status = SAP_OK;
    for (int64_t next = 0; next < grid->height && status == SAP_OK; next += step) {
        int32_t first = (int32_t)next, count = grid->height - first < step ? grid->height - first : step;
        place(tree, grid, first, count, queries);
        sap_rows rows = {queries, (int64_t)count * grid->width, dims, dims, 32};
        status = ask(tree, job, search, &rows, (int64_t)first * grid->width);
    }
    sap_scratch_give(tree->device, &scratch);
    return status;
}

static sap_status run(const sap_tree* tree, const sap_grid_job* job, const sap_search* search) {
    const sap_device* device = tree->device;
    if (SAP_CAN(device, nearest, search_grid)) return device->rooms.nearest->search_grid(tree, job);
    if (!SAP_CAN(device, radius, search)) return sap_unsupported(device, "search for the points within a radius");
    return ask_by_rows(tree, job, search);
}

sap_status sap_nearest_grid(const sap_tree* tree, sap_grid grid, const sap_search* search, int32_t* ids,
                            float* distance2) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    const sap_device* device = tree->device;
    sap_status status = check(tree, &grid);
    if (status != SAP_OK) return status;
    // One place asks for all that is wrong with the search.
    int32_t none = 0;
    status = sap_nearest(tree, (sap_points){NULL, 0, tree->shape.dims, 0}, search, &none, NULL);
    if (status == SAP_OK) status = sap_told_refuse(tree, search, "grids");
    if (status != SAP_OK) return status;
    int64_t answers;
    if (__builtin_mul_overflow((int64_t)grid.width * grid.height, (int64_t)search->k, &answers) ||
        answers > PTRDIFF_MAX / 8)
        return sap_fail(device, SAP_ERROR_RANGE, "search.k: width * height * k overflows");
    if (!ids) return sap_fail(device, SAP_ERROR_ARGUMENT, "ids: is NULL");
    sap_grid_job job = {.grid = &grid, .k = search->k, .walk = search->walk, .ids = ids, .distance2 = distance2};
    job.limit2 = (float)sap_limit2(tree, search->radius > 0 ? search->radius : (double)INFINITY);
    return run(tree, &job, search);
}

sap_status sap_radius_count_grid(const sap_tree* tree, sap_grid grid, double radius, int64_t* counts) {
    if (!tree) return SAP_ERROR_ARGUMENT;
    sap_status status = check(tree, &grid);
    if (status != SAP_OK) return status;
    if (!(radius >= 0))
        return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "radius: %g is negative or not a number", radius);
    if (!counts) return sap_fail(tree->device, SAP_ERROR_ARGUMENT, "counts: is NULL");
    sap_grid_job job = {.grid = &grid, .limit2 = (float)sap_limit2(tree, radius), .counts = counts};
    return run(tree, &job, NULL);
}
