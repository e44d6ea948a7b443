// Thinning by a grid on a GPU: keys of cells, a stable sort, and a warp for each cell, whose lanes load the points side by side
// and add them one after the other, as the host does.
#include "cloud/ops.h"
#include "cloud/voxels.h"
#include "tree/order_cuda.cuh"
#include "tree/packing_cuda.cuh"
#include <cub/device/device_radix_sort.cuh>

enum {
    VOXEL_THREADS = 256,
    VOXEL_WARPS = VOXEL_THREADS / SAP_WARP,
    VOXEL_BLOCKS = 4,  // of a multiprocessor, for the bounds
    VOXEL_AT_ONCE = 8, // numbers that a lane loads before the first is added
#ifdef SAP_CUDA_ON_CPU // few, so that tests have such cells
    VOXEL_MANY = 64
#else
    VOXEL_MANY = 4096 // a cell of more points is a block's, not a warp's
#endif
};

// What is known after all points were looked at.
typedef struct voxel_survey {
    long long bad_normal, bad_attribute, bad_row; // the first number, number and row that is refused, or INT64_MAX
    long long lower[SAP_MAX_DIMS], upper[SAP_MAX_DIMS];
    uint32_t count; // points that fit
} voxel_survey;

typedef struct voxel_sorting {
    uint64_t *keys, *spare_keys;
    uint32_t *ids, *spare_ids;
} voxel_sorting;

// Which places of those sorted are a cell's.
typedef struct voxel_runs {
    const uint64_t* keys;
    const uint32_t* ids;
    const int32_t* starts; // [runs]
    const int32_t* kept;   // [cells] runs with enough points; NULL: all
    int64_t runs, cells;
} voxel_runs;

static __device__ __forceinline__ bool voxel_is_left_out(const sap_gridding& g, int64_t row) {
    double cells[SAP_MAX_DIMS];
    return g.options.drop_nonfinite && sap_voxel_look(&g, row, cells) == SAP_VOXEL_NOT_FINITE;
}

// ---- Checks and bounds

static __global__ void __launch_bounds__(VOXEL_THREADS)
    voxels_check(const __grid_constant__ sap_gridding g, const float* values, int64_t width, long long* bad) {
    const int64_t i = (int64_t)blockIdx.x * VOXEL_THREADS + threadIdx.x;
    if (i >= g.points.count * width || fabsf(values[i]) <= FLT_MAX || voxel_is_left_out(g, i / width)) return;
    atomicMin(bad, (long long)i);
}

// A bit for each point that fits.
static __global__ void __launch_bounds__(VOXEL_THREADS)
    voxels_look(const __grid_constant__ sap_gridding g, uint32_t* fits, voxel_survey* survey) {
    const int64_t row = (int64_t)blockIdx.x * VOXEL_THREADS + threadIdx.x;
    double cells[SAP_MAX_DIMS];
    const sap_voxel_fault fault = row < g.points.count ? sap_voxel_look(&g, row, cells) : SAP_VOXEL_NOT_FINITE;
    const unsigned int lanes = __ballot_sync(SAP_ALL_LANES, fault == SAP_VOXEL_FITS);
    if (sap_lane() == 0 && row < g.points.count) fits[row / SAP_WARP] = lanes;
    if (row >= g.points.count || fault == SAP_VOXEL_FITS) return;
    if (fault == SAP_VOXEL_TOO_FAR || !g.options.drop_nonfinite) atomicMin(&survey->bad_row, (long long)row);
}

static __global__ void __launch_bounds__(VOXEL_THREADS)
    voxels_bound(const __grid_constant__ sap_gridding g, const uint32_t* fits, voxel_survey* survey) {
    for (int32_t a = 0; a < g.points.dims; a++) {
        long long lower = LLONG_MAX, upper = LLONG_MIN;
        for (int64_t row = (int64_t)blockIdx.x * VOXEL_THREADS + threadIdx.x; row < g.points.count;
             row += (int64_t)gridDim.x * VOXEL_THREADS) {
            if (!(fits[row / SAP_WARP] >> row % SAP_WARP & 1u)) continue;
            const long long cell = (long long)sap_voxel_along(&g, row, a);
            lower = cell < lower ? cell : lower;
            upper = cell > upper ? cell : upper;
        }
        for (int step = SAP_WARP / 2; step > 0; step /= 2) {
            const long long other_lower = __shfl_xor_sync(SAP_ALL_LANES, lower, step);
            const long long other_upper = __shfl_xor_sync(SAP_ALL_LANES, upper, step);
            lower = other_lower < lower ? other_lower : lower;
            upper = other_upper > upper ? other_upper : upper;
        }
        if (sap_lane() != 0 || lower > upper) continue;
        atomicMin(&survey->lower[a], lower);
        atomicMax(&survey->upper[a], upper);
    }
}

// Refuses what the host would, in the same order.
static sap_status voxels_refuse(sap_cuda_call* call, const sap_gridding* g, const voxel_survey* survey) {
    const sap_voxels_options* o = &g->options;
    if (survey->bad_normal != INT64_MAX || survey->bad_attribute != INT64_MAX) {
        const bool is_normal = survey->bad_normal != INT64_MAX;
        const int64_t at = is_normal ? survey->bad_normal : survey->bad_attribute;
        float value = 0;
        sap_cuda_fetch(call, &value, (is_normal ? o->normals : o->attributes) + at, sizeof value);
        if (call->status != SAP_OK) return call->status;
        return sap_voxels_refuse_value(call->device, is_normal ? "normals" : "attributes", value,
                                       at / (is_normal ? 3 : o->attribute_count));
    }
    if (survey->bad_row == INT64_MAX) return SAP_OK;
    double coords[SAP_MAX_DIMS]; // of either precision
    const size_t real = (size_t)g->points.real_bits / 8;
    sap_cuda_fetch(call, coords, (const char*)g->points.coords + (size_t)(survey->bad_row * g->points.stride) * real,
                   (size_t)g->points.dims * real);
    if (call->status != SAP_OK) return call->status;
    return sap_voxels_refuse_point(call->device, g, coords, survey->bad_row);
}

// Lists the points that are not left out, and finds the bounds of their cells.
static sap_status voxels_list(sap_cuda_call* call, sap_gridding* g, uint32_t* ids) {
    const sap_voxels_options* o = &g->options;
    const int64_t n = g->points.count, words = (n + SAP_WARP - 1) / SAP_WARP;
    const sap_cuda_grid each = sap_cuda_grid_for(n, VOXEL_THREADS);
    sap_cuda_grid few = each;
    if (few.blocks > (int64_t)VOXEL_BLOCKS * call->cuda->multiprocessors)
        few.blocks = (int64_t)VOXEL_BLOCKS * call->cuda->multiprocessors;
    voxel_survey survey;
    memset((void*)&survey, 0, sizeof survey);
    survey.bad_normal = survey.bad_attribute = survey.bad_row = INT64_MAX;
    for (int a = 0; a < SAP_MAX_DIMS; a++) survey.lower[a] = LLONG_MAX, survey.upper[a] = LLONG_MIN;
    voxel_survey* there = (voxel_survey*)sap_cuda_take(call, sizeof *there);
    uint32_t* fits = (uint32_t*)sap_cuda_take(call, (size_t)words * sizeof *fits);
    if (call->status != SAP_OK) return call->status;
    sap_cuda_copy(call, there, &survey, sizeof survey);
    if (o->normals)
        sap_cuda_launch(call, voxels_check, sap_cuda_grid_for(3 * n, VOXEL_THREADS), *g, o->normals, (int64_t)3,
                        &there->bad_normal);
    if (o->attributes)
        sap_cuda_launch(call, voxels_check, sap_cuda_grid_for(o->attribute_count * n, VOXEL_THREADS), *g, o->attributes,
                        (int64_t)o->attribute_count, &there->bad_attribute);
    sap_cuda_launch(call, voxels_look, each, *g, fits, there);
    sap_cuda_launch(call, voxels_bound, few, *g, (const uint32_t*)fits, there);
    sap_packing packing;
    memset((void*)&packing, 0, sizeof packing);
    packing.bits = fits;
    packing.count = (int32_t)n;
    packing.out = (int32_t*)ids;
    packing.total = &there->count;
    sap_pack(call, packing);
    sap_cuda_fetch(call, &survey, there, sizeof survey);
    if (call->status != SAP_OK) return call->status;
    const sap_status status = voxels_refuse(call, g, &survey);
    g->count = survey.count;
    sap_voxels_bound(g, (const int64_t*)survey.lower, (const int64_t*)survey.upper);
    return status;
}

// ---- Sorting

static __global__ void __launch_bounds__(VOXEL_THREADS)
    voxels_key(const __grid_constant__ sap_gridding g, const uint32_t* ids, int first, int end, uint64_t* keys) {
    const int64_t i = (int64_t)blockIdx.x * VOXEL_THREADS + threadIdx.x;
    if (i < g.count) keys[i] = sap_voxel_key(&g, ids[i], first, end);
}

static void voxels_sort_by(sap_cuda_call* call, voxel_sorting* s, int64_t count, int bits) {
    cub::DoubleBuffer<uint64_t> keys(s->keys, s->spare_keys);
    cub::DoubleBuffer<uint32_t> ids(s->ids, s->spare_ids);
    size_t bytes = 0;
    if (call->status != SAP_OK) return;
    sap_cuda_expect(call, cub::DeviceRadixSort::SortPairs(NULL, bytes, keys, ids, count, 0, bits, call->cuda->stream),
                    "planning a sort");
    void* room = sap_cuda_take(call, bytes + 1);
    if (call->status != SAP_OK) return;
    sap_cuda_expect(call, cub::DeviceRadixSort::SortPairs(room, bytes, keys, ids, count, 0, bits, call->cuda->stream),
                    "sorting points");
    sap_cuda_give(call, room);
    s->keys = keys.Current(), s->spare_keys = keys.Alternate();
    s->ids = ids.Current(), s->spare_ids = ids.Alternate();
}

static void voxels_sort(sap_cuda_call* call, sap_gridding* g, voxel_sorting* s) {
    for (int32_t first = 0, end; first < g->points.dims; first = end) {
        int32_t bits;
        end = sap_voxels_group(g, first, &bits);
        sap_cuda_launch(call, voxels_key, sap_cuda_grid_for(g->count, VOXEL_THREADS), *g, (const uint32_t*)s->ids,
                        (int)first, (int)end, s->keys);
        if (bits > 0) voxels_sort_by(call, s, g->count, bits);
        g->is_split = first > 0;
    }
}

// ---- Cells

// A bit for each place where a cell begins.
static __global__ void __launch_bounds__(VOXEL_THREADS)
    voxels_begin(const __grid_constant__ sap_gridding g, const uint64_t* keys, const uint32_t* ids, uint32_t* begins) {
    const int64_t i = (int64_t)blockIdx.x * VOXEL_THREADS + threadIdx.x;
    const bool is_first = i < g.count && (i == 0 || !sap_voxel_is_same(&g, keys, ids, i - 1, i));
    const unsigned int lanes = __ballot_sync(SAP_ALL_LANES, is_first);
    if (sap_lane() == 0 && i < g.count) begins[i / SAP_WARP] = lanes;
}

static __device__ __forceinline__ int64_t voxel_run_end(const voxel_runs& r, int64_t run, int64_t count) {
    return run + 1 < r.runs ? r.starts[run + 1] : count;
}

// A bit for each run with enough points.
static __global__ void __launch_bounds__(VOXEL_THREADS)
    voxels_choose(const voxel_runs r, int64_t count, int fewest, uint32_t* enough) {
    const int64_t run = (int64_t)blockIdx.x * VOXEL_THREADS + threadIdx.x;
    const bool is_kept = run < r.runs && voxel_run_end(r, run, count) - r.starts[run] >= fewest;
    const unsigned int lanes = __ballot_sync(SAP_ALL_LANES, is_kept);
    if (sap_lane() == 0 && run < r.runs) enough[run / SAP_WARP] = lanes;
}

// The numbers of the bits that are set, in memory that is taken for them; *total: how many.
static const int32_t* voxels_numbers(sap_cuda_call* call, const uint32_t* bits, int64_t count, int64_t* total) {
    sap_packing packing;
    uint32_t sum = 0;
    memset((void*)&packing, 0, sizeof packing);
    packing.bits = bits;
    packing.count = (int32_t)count;
    packing.out = (int32_t*)sap_cuda_take(call, (size_t)count * sizeof(int32_t));
    packing.total = (uint32_t*)sap_cuda_take(call, sizeof(uint32_t));
    sap_pack(call, packing);
    sap_cuda_fetch(call, &sum, packing.total, sizeof sum);
    *total = call->status == SAP_OK ? sum : 0;
    return packing.out;
}

static voxel_runs voxels_find_runs(sap_cuda_call* call, const sap_gridding* g, const voxel_sorting* s) {
    voxel_runs r = {s->keys, s->ids, NULL, NULL, 0, 0};
    const size_t bytes = (size_t)((g->count + SAP_WARP - 1) / SAP_WARP) * sizeof(uint32_t);
    uint32_t* bits = (uint32_t*)sap_cuda_take(call, bytes);
    if (g->count == 0) return r;
    sap_cuda_launch(call, voxels_begin, sap_cuda_grid_for(g->count, VOXEL_THREADS), *g, r.keys, r.ids, bits);
    r.starts = voxels_numbers(call, bits, g->count, &r.runs);
    r.cells = r.runs;
    if (g->options.fewest < 2 || r.runs == 0) return r;
    sap_cuda_launch(call, voxels_choose, sap_cuda_grid_for(r.runs, VOXEL_THREADS), r, g->count, (int)g->options.fewest,
                    bits);
    r.kept = voxels_numbers(call, bits, r.runs, &r.cells);
    return r;
}

// sum plus what the first lanes have, one after the other; the same for all lanes.
static __device__ __forceinline__ double voxel_add(double sum, double own, int64_t lanes) {
    if (!__any_sync(SAP_ALL_LANES, own != 0)) return sum; // as where points are equal
    for (int lane = 0; lane < SAP_WARP && lane < lanes; lane++) sum += __shfl_sync(SAP_ALL_LANES, own, lane);
    return sum;
}

// The mean of a number over places from … to - 1, added in their order. Of many, all that are loaded at once are on their way
// before the first is added.
static __device__ double voxel_mean(const sap_gridding& g, const uint32_t* ids, int column, int64_t from, int64_t to) {
    const sap_voxel_column numbers = sap_voxel_column_of(&g, column);
    const double first = sap_voxel_number(&numbers, ids[from]);
    const int64_t own = from + sap_lane();
    double sum = 0;
    if (to - from <= SAP_WARP) {
        sum = voxel_add(sum, own < to ? sap_voxel_number(&numbers, ids[own]) - first : 0, to - from);
        return first + sum / (double)(to - from);
    }
    for (int64_t base = 0; base < to - from; base += VOXEL_AT_ONCE * SAP_WARP) {
        double off[VOXEL_AT_ONCE];
#pragma unroll
        for (int k = 0; k < VOXEL_AT_ONCE; k++) {
            const int64_t place = own + base + k * SAP_WARP;
            off[k] = place < to ? sap_voxel_number(&numbers, ids[place]) - first : 0;
        }
#pragma unroll
        for (int k = 0; k < VOXEL_AT_ONCE; k++) sum = voxel_add(sum, off[k], to - from - base - k * SAP_WARP);
    }
    return first + sum / (double)(to - from);
}

// Who makes a cell: a warp, or a block.
typedef struct voxel_crew {
    int thread, threads, warp, warps; // of it
} voxel_crew;

// The point nearest to the middle, of several the first.
typedef struct voxel_nearest {
    double off2;
    long long place; // LLONG_MAX: none is
} voxel_nearest;

static __device__ __forceinline__ void voxel_take(voxel_nearest* best, double off2, long long place) {
    if (off2 < best->off2 || (off2 == best->off2 && place < best->place)) best->off2 = off2, best->place = place;
}

// Of those of a warp; the same for all lanes.
static __device__ voxel_nearest voxel_nearest_to_middle(const sap_gridding& g, const uint32_t* ids, int64_t from,
                                                        int64_t to, const voxel_crew& crew) {
    voxel_nearest best = {(double)INFINITY, LLONG_MAX};
    for (int64_t i = from + crew.thread; i < to; i += crew.threads) {
        const double off2 = sap_voxel_off_middle2(&g, ids[i]);
        if (off2 < best.off2) voxel_take(&best, off2, i);
    }
    for (int step = SAP_WARP / 2; step > 0; step /= 2) {
        const double off2 = __shfl_xor_sync(SAP_ALL_LANES, best.off2, step);
        voxel_take(&best, off2, __shfl_xor_sync(SAP_ALL_LANES, best.place, step));
    }
    return best;
}

// The points at places from … to - 1 become one, of which `chosen` has what no mean is made of.
static __device__ void voxel_put_cell(const sap_gridding& g, const uint32_t* ids, const sap_thinned& v, int64_t cell,
                                      int64_t from, int64_t to, int64_t chosen, const voxel_crew& crew) {
    const bool is_mean = g.options.point == SAP_VOXELS_CENTROID;
    const int columns = sap_voxel_columns(&g), dims = g.points.dims;
    const int64_t id = ids[chosen];
    for (int64_t i = from + crew.thread; i < to; i += crew.threads) ((int32_t*)v.cell_of)[ids[i]] = (int32_t)cell;
    if (crew.thread == 0) {
        ((int32_t*)v.ids)[cell] = (int32_t)id;
        ((int32_t*)v.counts)[cell] = (int32_t)(to - from);
    }
    for (int c = crew.thread; !is_mean && c < columns; c += crew.threads) {
        const sap_voxel_column numbers = sap_voxel_column_of(&g, c);
        sap_voxel_put(&g, &v, cell, c, sap_voxel_number(&numbers, id));
    }
    for (int c = crew.warp; is_mean && c < columns; c += crew.warps) {
        if (v.normals && c >= dims && c < dims + 3) continue; // made of length 1, below
        const double mean = voxel_mean(g, ids, c, from, to);
        if (sap_lane() == 0) sap_voxel_put(&g, &v, cell, c, mean);
    }
    if (!is_mean || !v.normals || crew.warp != crew.warps - 1) return;
    double normal[3];
    for (int a = 0; a < 3; a++) normal[a] = voxel_mean(g, ids, dims + a, from, to);
    sap_voxel_normalize(normal);
    for (int a = 0; a < 3 && sap_lane() == 0; a++) sap_voxel_put(&g, &v, cell, dims + a, normal[a]);
}

static __global__ void __launch_bounds__(VOXEL_THREADS)
    voxels_put(const __grid_constant__ sap_gridding g, const voxel_runs r, const sap_thinned v) {
    const int64_t cell = (int64_t)blockIdx.x * VOXEL_WARPS + threadIdx.x / SAP_WARP;
    if (cell >= r.cells) return;
    const int64_t run = r.kept ? r.kept[cell] : cell, from = r.starts[run], to = voxel_run_end(r, run, g.count);
    if (to - from > VOXEL_MANY) return;
    const voxel_crew crew = {sap_lane(), SAP_WARP, 0, 1};
    int64_t chosen = from;
    if (g.options.point == SAP_VOXELS_NEAREST) {
        const voxel_nearest best = voxel_nearest_to_middle(g, r.ids, from, to, crew);
        if (best.place != LLONG_MAX) chosen = best.place;
    }
    voxel_put_cell(g, r.ids, v, cell, from, to, chosen, crew);
}

// The last of numbers[count], which ascend, that is at most so large; the first is.
static __device__ int64_t voxel_last_within(const int32_t* numbers, int64_t count, int64_t most) {
    int64_t low = 0, high = count - 1;
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (numbers[middle] <= most)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

typedef struct voxel_shared {
    voxel_nearest best[VOXEL_WARPS];
} voxel_shared;

// Cells of many points: block b has the one whose first place that VOXEL_MANY divides is b * VOXEL_MANY.
static __global__ void __launch_bounds__(VOXEL_THREADS)
    voxels_put_many(const __grid_constant__ sap_gridding g, const voxel_runs r, const sap_thinned v) {
    SAP_CUDA_SHARED(voxel_shared, shared);
    const int64_t place = (int64_t)blockIdx.x * VOXEL_MANY, run = voxel_last_within(r.starts, r.runs, place);
    const int64_t from = r.starts[run], to = voxel_run_end(r, run, g.count);
    if (to - from <= VOXEL_MANY || from + VOXEL_MANY <= place) return;
    int64_t cell = run, chosen = from;
    if (r.kept) {
        if (r.cells == 0 || r.kept[0] > run) return;
        cell = voxel_last_within(r.kept, r.cells, run);
        if (r.kept[cell] != run) return;
    }
    const int warp = (int)threadIdx.x / SAP_WARP;
    const voxel_crew crew = {(int)threadIdx.x, VOXEL_THREADS, warp, VOXEL_WARPS};
    if (g.options.point == SAP_VOXELS_NEAREST) {
        voxel_nearest best = voxel_nearest_to_middle(g, r.ids, from, to, crew);
        if (sap_lane() == 0) shared->best[warp] = best;
        __syncthreads();
        for (int w = 0; w < VOXEL_WARPS; w++) voxel_take(&best, shared->best[w].off2, shared->best[w].place);
        if (best.place != LLONG_MAX) chosen = best.place;
    }
    voxel_put_cell(g, r.ids, v, cell, from, to, chosen, crew);
}

// ---- The call

// Where the points lie, there lies what is made.
static sap_status voxels_make(sap_cuda_call* call, const sap_gridding* g, const voxel_runs* r, bool on_device,
                              sap_thinned** made) {
    sap_device* device = call->device;
    sap_scratch here = {NULL, 0}, there = {NULL, 0};
    sap_status status = call->status == SAP_OK ? sap_voxels_bytes(device, g, r->cells, &there.bytes) : call->status;
    if (status != SAP_OK) return status;
    there.memory =
        (unsigned char*)(on_device ? sap_cuda_allocate(call, there.bytes + 1) : sap_cuda_take(call, there.bytes + 1));
    if (call->status == SAP_OK) {
        sap_thinned v;
        sap_cuda_grid grid = sap_cuda_grid_for(r->cells, VOXEL_WARPS);
        grid.threads = VOXEL_THREADS;
        sap_voxels_place(g, r->cells, there.memory, &v);
        sap_cuda_fill(call, there.memory, 0xff, there.bytes); // cell_of, and what pads arrays that are copied as one
        sap_cuda_launch(call, voxels_put, grid, *g, *r, v);
        if (g->count > VOXEL_MANY) {
            grid.blocks = (g->count + VOXEL_MANY - 1) / VOXEL_MANY;
            grid.shared = sizeof(voxel_shared);
            sap_cuda_launch(call, voxels_put_many, grid, *g, *r, v);
        }
    }
    status = call->status;
    if (on_device) {
        there.bytes++;
        if (status == SAP_OK) status = sap_voxels_adopt(device, g, r->cells, there, sap_cuda_release, made);
        if (status != SAP_OK) sap_cuda_release(device, there.memory, there.bytes);
        return status;
    }
    if (status != SAP_OK) return status;
    here.bytes = there.bytes;
    here.memory = (unsigned char*)sap_memory_allocate(device, here.bytes);
    if (!here.memory) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for %lld cells", (long long)r->cells);
    status = sap_voxels_adopt(device, g, r->cells, here, NULL, made);
    if (status == SAP_OK)
        sap_cuda_copy(call, here.memory, there.memory, here.bytes);
    else
        sap_memory_release(device, here.memory, here.bytes);
    call->waits = true;
    return status;
}

static sap_status voxels_thin(sap_cuda_call* call, const sap_gridding* given, sap_thinned** made) {
    sap_gridding g = *given;
    const size_t n = (size_t)g.points.count;
    const bool on_device = sap_cuda_on_device(call, g.points.coords);
    g.points = sap_cuda_rows_in(call, &given->points);
    g.options.normals =
        (const float*)sap_cuda_in(call, g.options.normals, g.options.normals ? 3 * n * sizeof(float) : 0);
    const size_t width = g.options.attributes ? (size_t)g.options.attribute_count : 0;
    g.options.attributes = (const float*)sap_cuda_in(call, g.options.attributes, width * n * sizeof(float));
    voxel_sorting s = {
        (uint64_t*)sap_cuda_take(call, n * sizeof(uint64_t)), (uint64_t*)sap_cuda_take(call, n * sizeof(uint64_t)),
        (uint32_t*)sap_cuda_take(call, n * sizeof(uint32_t)), (uint32_t*)sap_cuda_take(call, n * sizeof(uint32_t))};
    sap_status status = call->status == SAP_OK ? voxels_list(call, &g, s.ids) : call->status;
    if (status != SAP_OK) return status;
    voxels_sort(call, &g, &s);
    const voxel_runs runs = voxels_find_runs(call, &g, &s);
    return voxels_make(call, &g, &runs, on_device, made);
}

sap_status sap_cloud_voxels_cuda(sap_voxels_job* job) {
    sap_cuda_call call;
    sap_thinned* made = NULL;
    if (job->gridding->points.count == 0) return sap_cloud_voxels_cpu(job);
    sap_status status = sap_cuda_begin(&call, job->device);
    if (status == SAP_OK) status = voxels_thin(&call, job->gridding, &made);
    status = sap_cuda_end(&call, status);
    if (status == SAP_OK)
        job->voxels = made;
    else
        sap_thinned_free(made);
    return status;
}
