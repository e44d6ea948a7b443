// Surfaces on the CPU in three passes, each over blocks of rows that threads share: bits; counts, which say where each
// row's vertices and triangles go; and the vertices and triangles.
#include "base/assert.h"
#include "base/team.h"
#include "device/cpu.h"
#include "device/progress.h"
#include "surface/rows.h"
#include "surface/surface.h"

enum {
    LEAST_SAMPLES = 1 << 15, // of a block of rows, about
    MOST_SAMPLES = 1 << 18,  // a few slices: neighbouring rows are read together, while they are in the cache
    BLOCKS = 32,             // a thread, so that all end at about the same time
    PASSES = 3
};

typedef struct extraction {
    const sap_surface_job* job;
    const sap_surface_kernels* kernels;
    sap_device* device;
    int64_t rows, words; // of the lattice; of a row
    int64_t block;       // rows of a block
    uint64_t* bits;      // [rows][words]
    int64_t* first[2];   // [rows + 1]: vertices, triangles before a row
    int64_t bad;         // the first sample that is not finite or too large; INT64_MAX: none
    sap_progress_state progress;
    sap_isosurface* made;
} extraction;

static void classify_row(extraction* e, int64_t row) {
    int64_t side = e->job->lattice.sides[1];
    int64_t bad = e->kernels->classify(e->job, row % side, row / side, e->bits + row * e->words);
    SAP_ASSERT(bad < e->job->lattice.sides[0]);
    if (bad >= 0) sap_team_lower(&e->bad, row * e->job->voxels.row + bad);
}

static void count_row(extraction* e, int64_t row) {
    int64_t side = e->job->lattice.sides[1], counts[2];
    e->kernels->count(e->job, e->bits, row % side, row / side, counts);
    SAP_ASSERT(counts[0] >= 0 && counts[1] >= 0);
    e->first[0][row + 1] = counts[0];
    e->first[1][row + 1] = counts[1];
}

static void make_row(extraction* e, int64_t row) {
    int64_t side = e->job->lattice.sides[1], y = row % side, z = row / side;
    const int64_t *vertex = e->first[0], *triangle = e->first[1];
    const sap_mesh* mesh = &e->made->mesh;
    if (vertex[row] < vertex[row + 1])
        e->kernels->vertices(e->job, e->bits, y, z, (float*)(uintptr_t)mesh->vertices + 3 * vertex[row],
                             (float*)(uintptr_t)e->made->normals + 3 * vertex[row]);
    if (triangle[row] < triangle[row + 1]) {
        SAP_ASSERT(y + 1 < side && row + side + 1 < e->rows); // only cells between rows have triangles
        const int64_t before[4] = {vertex[row], vertex[row + 1], vertex[row + side], vertex[row + side + 1]};
        e->kernels->triangles(e->job, e->bits, y, z, before, (int32_t*)(uintptr_t)mesh->triangles + 3 * triangle[row]);
    }
}

typedef struct row_pass {
    extraction* extraction;
    void (*of_row)(extraction* e, int64_t row);
} row_pass;

static void pass_rows(void* context, int64_t from, int64_t to, int32_t worker) {
    const row_pass* p = context;
    (void)worker;
    if (!sap_progress_add(&p->extraction->progress, 0)) return;
    for (int64_t row = from; row < to; row++) p->of_row(p->extraction, row);
    sap_progress_add(&p->extraction->progress, to - from);
}

// Calls a function for each row; false if the host asked to stop.
static bool pass(extraction* e, void (*of_row)(extraction* e, int64_t row)) {
    row_pass all = {e, of_row};
    sap_team_loop(e->device->options.threads, e->rows, e->block, pass_rows, &all);
    return sap_progress_add(&e->progress, 0);
}

// Counts of rows become what comes before each.
static void sum_up(int64_t* first, int64_t rows) {
    first[0] = 0;
    for (int64_t r = 0; r < rows; r++) first[r + 1] += first[r];
}

static sap_status run(extraction* e) {
    bool goes_on = pass(e, classify_row);
    if (goes_on && e->bad < INT64_MAX) return sap_surface_not_finite(e->device, e->job, e->bad);
    if (goes_on) goes_on = pass(e, count_row);
    if (goes_on) {
        sum_up(e->first[0], e->rows);
        sum_up(e->first[1], e->rows);
        sap_status status = sap_surface_reserve(e->device, e->first[0][e->rows], e->first[1][e->rows], &e->made);
        if (status != SAP_OK) return status;
        goes_on = pass(e, make_row) && sap_progress_finish(&e->progress);
    }
    if (!goes_on) return sap_fail(e->device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
    *e->job->surface = e->made;
    return SAP_OK;
}

sap_status sap_surface_cpu(sap_device* device, const sap_surface_job* job) {
    const int* sides = job->lattice.sides;
    SAP_ASSERT(sides[0] >= 2 && sides[1] >= 2 && sides[2] >= 2 && device->options.threads > 0);
    extraction e = {.job = job, .device = device, .bad = INT64_MAX};
    e.kernels = sap_cpu_kernels_of(device, 32)->surface;
    e.rows = (int64_t)sides[1] * sides[2];
    e.words = sap_row_words(sides[0]);
    int64_t share = e.rows * sides[0] / BLOCKS / device->options.threads;
    if (share < LEAST_SAMPLES) share = LEAST_SAMPLES;
    if (share > MOST_SAMPLES) share = MOST_SAMPLES;
    e.block = share / sides[0] + 1;
    e.progress = sap_progress_begin(device, PASSES * e.rows);
    // Rows of two samples need more for their bits than the volume has bytes.
    size_t row_bytes = (size_t)e.words * sizeof *e.bits + 2 * sizeof(int64_t), bytes;
    sap_scratch scratch;
    if (!sap_size_multiply((uint64_t)e.rows, row_bytes, &bytes) ||
        !sap_size_add(bytes, 2 * sizeof(int64_t) + 3 * SAP_ALIGNMENT, &bytes) ||
        !sap_scratch_take(device, bytes, &scratch))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory for the bits of %lld rows", (long long)e.rows);
    size_t bits = sap_align((size_t)(e.rows * e.words) * sizeof *e.bits);
    size_t offsets = sap_align((size_t)(e.rows + 1) * sizeof(int64_t));
    SAP_ASSERT(bits + 2 * offsets <= scratch.bytes);
    e.bits = (uint64_t*)(void*)scratch.memory;
    e.first[0] = (int64_t*)(void*)(scratch.memory + bits);
    e.first[1] = (int64_t*)(void*)(scratch.memory + bits + offsets);
    sap_status status = run(&e);
    if (status != SAP_OK) sap_isosurface_free(e.made);
    sap_scratch_give(device, &scratch);
    return status;
}
