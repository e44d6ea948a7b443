// Surfaces on a GPU, in the passes of the CPU: bits, counts, and, once the host knows the size, vertices and triangles.
// A warp has a row of samples; where nothing crosses it, it tests 32 of its words of bits at a time.
#include "compact/prefix_sum_cuda.h"

extern "C" {
#include "base/assert.h"
#include "surface/surface.h"
}
#include "surface/rows.h"

enum {
    ROW_THREADS = 256, // of a block
    ROW_WARPS = ROW_THREADS / SAP_WARP,
    LOADS = 4 // samples that a lane loads at once
};

// A volume and what is known of it, all on the GPU.
typedef struct extraction {
    sap_voxels voxels;
    sap_lattice lattice;
    bool low_inside;
    int64_t rows, words;
    sap_word* bits;                // [rows][words]
    int64_t *vertices, *triangles; // [rows + 1]: counts, then what comes before each row
    unsigned long long* bad;       // the first sample that is not finite or too large; all ones: none
    int64_t* summary;              // [3]: vertices, triangles, bad
    float *positions, *normals;    // the surface
    int32_t* corners;
} extraction;

static __device__ __forceinline__ int64_t row_of_warp(void) {
    return (int64_t)blockIdx.x * ROW_WARPS + threadIdx.x / SAP_WARP;
}
static __device__ __forceinline__ int lane_of(void) { return (int)threadIdx.x % SAP_WARP; }

// ---- Bits

template <sap_voxel type> static __global__ void __launch_bounds__(ROW_THREADS) classify(extraction e) {
    const int64_t row = row_of_warp(), y = row % e.lattice.sides[1], z = row / e.lattice.sides[1];
    if (row >= e.rows) return;
    const sap_voxels voxels = {e.voxels.values, e.voxels.row, e.voxels.slice, type};
    // An int would overflow behind the last step.
    const unsigned lane = (unsigned)lane_of(), side = (unsigned)e.lattice.sides[0];
    for (unsigned x = 0; x < side; x += LOADS * SAP_WARP) {
        float value[LOADS];
        SAP_UNROLL
        for (int i = 0; i < LOADS; i++) {
            const unsigned at = x + (unsigned)(i * SAP_WARP) + lane;
            value[i] = at < side ? sap_voxel_value(voxels, (int)at, (int)y, (int)z) : 0.0f;
        }
        SAP_UNROLL
        for (int i = 0; i < LOADS; i++) {
            const unsigned first = x + (unsigned)(i * SAP_WARP);
            const bool is_there = first + lane < side;
            const unsigned inside = __ballot_sync(SAP_ALL_LANES, is_there && value[i] >= e.lattice.level);
            const unsigned bad = __ballot_sync(SAP_ALL_LANES, !(fabsf(value[i]) <= 0x1p126f));
            if (lane != 0 || first >= side) continue;
            e.bits[row * e.words + first / SAP_WARP] = inside;
            if (bad) atomicMin(e.bad, (unsigned long long)(row * side + first + __ffs((int)bad) - 1));
        }
    }
}

// ---- Counts

static __device__ __forceinline__ int sum_of_warp(int value) {
    for (int other = SAP_WARP / 2; other; other /= 2) value += __shfl_xor_sync(SAP_ALL_LANES, value, other);
    return value;
}

// The sum of the lanes before this one.
static __device__ __forceinline__ int sum_before(int value) {
    int sum = value;
    SAP_UNROLL
    for (int by = 1; by < SAP_WARP; by *= 2) {
        const int below = __shfl_up_sync(SAP_ALL_LANES, sum, (unsigned)by);
        sum += lane_of() >= by ? below : 0;
    }
    return sum - value;
}

static __global__ void __launch_bounds__(ROW_THREADS) count(extraction e) {
    const int64_t row = row_of_warp();
    if (row >= e.rows) return;
    const sap_rows_about about =
        sap_rows_at(e.bits, e.lattice.sides, row % e.lattice.sides[1], row / e.lattice.sides[1]);
    int64_t vertices = 0, triangles = 0;
    for (int64_t first = 0; first < e.words; first += SAP_WARP) {
        const int64_t w = first + lane_of();
        int here = 0, of_cells = 0;
        if (w < e.words) {
            const sap_word_cells cells = sap_cells_at(&about, w);
            here = sap_word_vertices(sap_edges_at(&about, w));
            for (sap_word left = cells.active; left; left &= left - 1)
                of_cells += (int)sap_cube_triangles(sap_cell_inside(&cells, sap_trailing_zeros(left)));
        }
        vertices += sum_of_warp(here);
        triangles += sum_of_warp(of_cells);
    }
    if (lane_of() != 0) return;
    e.vertices[row + 1] = vertices;
    e.triangles[row + 1] = triangles;
}

static __global__ void summarise(extraction e) {
    e.summary[0] = e.vertices[e.rows];
    e.summary[1] = e.triangles[e.rows];
    e.summary[2] = (int64_t)*e.bad;
}

// ---- The surface

// Lane i makes the vertices of sample i of a word.
static __device__ __forceinline__ void make_vertices(const extraction& e, const sap_voxels& voxels,
                                                     const sap_word_edges& edges, int64_t before, int x, int y, int z) {
    const int lane = lane_of();
    const sap_word below = ((sap_word)1 << lane) - 1;
    int64_t at =
        before + __popc(edges.along[0] & below) + __popc(edges.along[1] & below) + __popc(edges.along[2] & below);
    for (int axis = 0; axis < 3; axis++) {
        if (!(edges.along[axis] >> lane & 1)) continue;
        const sap_surface_vertex vertex = sap_surface_vertex_on(voxels, e.lattice, x + lane, y, z, axis);
        SAP_UNROLL
        for (int i = 0; i < 3; i++) {
            e.positions[3 * at + i] = vertex.position[i];
            e.normals[3 * at + i] = vertex.normal[i];
        }
        at++;
    }
}

// Lane i makes the triangles of cell i of a word; how many the word has.
static __device__ __forceinline__ int make_triangles(const extraction& e, const sap_rows_about& about,
                                                     const sap_cell_edges& edges, const int64_t before[4], int64_t w,
                                                     int64_t triangle) {
    const sap_word_cells cells = sap_cells_at(&about, w);
    const int lane = lane_of();
    const SAP_BITS inside = cells.active >> lane & 1 ? sap_cell_inside(&cells, lane) : 0;
    const int own = (int)sap_cube_triangles(inside), ahead = sum_before(own);
    if (own) {
        int32_t vertex[12];
        sap_cell_vertices(&edges, before, lane, vertex);
        int32_t* to = e.corners + 3 * (triangle + ahead);
        for (SAP_BITS c = 0; c < 3 * (SAP_BITS)own; c += 3) {
            to[c] = vertex[sap_cube_edge(inside, c)];
            to[c + 1] = vertex[sap_cube_edge(inside, e.low_inside ? c + 2 : c + 1)];
            to[c + 2] = vertex[sap_cube_edge(inside, e.low_inside ? c + 1 : c + 2)];
        }
    }
    return sum_of_warp(own);
}

template <sap_voxel type> static __global__ void __launch_bounds__(ROW_THREADS) make(extraction e) {
    const int64_t row = row_of_warp(), side = e.lattice.sides[1], y = row % side, z = row / side;
    if (row >= e.rows) return;
    if (e.vertices[row] == e.vertices[row + 1] && e.triangles[row] == e.triangles[row + 1]) return;
    const sap_voxels voxels = {e.voxels.values, e.voxels.row, e.voxels.slice, type};
    const sap_rows_about about = sap_rows_at(e.bits, e.lattice.sides, y, z);
    int64_t numbers[4], triangle = e.triangles[row];
    for (int r = 0; r < 4; r++) { // of rows that the lattice lacks no vertex is asked
        const int64_t of = row + (r & 1) + (r >> 1) * side;
        numbers[r] = e.vertices[of < e.rows ? of : e.rows];
    }
    for (int64_t first = 0; first < e.words; first += SAP_WARP) {
        const int64_t own = first + lane_of();
        sap_word_edges mine[4] = {};
        int before[4];
        if (own < e.words) sap_cell_edges_at(&about, own, mine);
        const bool is_met = own < e.words && (sap_word_vertices(mine[0]) || sap_cells_at(&about, own).active);
        for (int r = 0; r < 4; r++) before[r] = sum_before(sap_word_vertices(mine[r]));
        for (unsigned met = __ballot_sync(SAP_ALL_LANES, is_met); met; met &= met - 1) {
            const int lane = __ffs((int)met) - 1;
            const int64_t w = first + lane;
            int64_t ahead[4];
            sap_cell_edges edges = {};
            for (int r = 0; r < 4; r++) ahead[r] = numbers[r] + __shfl_sync(SAP_ALL_LANES, before[r], lane);
            sap_cell_edges_at(&about, w, edges.row);
            if (w + 1 < e.words) sap_cell_edges_at(&about, w + 1, edges.behind);
            make_vertices(e, voxels, edges.row[0], ahead[0], (int)(w * SAP_WORD_BITS), (int)y, (int)z);
            triangle += make_triangles(e, about, edges, ahead, w, triangle);
        }
        for (int r = 0; r < 4; r++)
            numbers[r] += __shfl_sync(SAP_ALL_LANES, before[r] + sap_word_vertices(mine[r]), SAP_WARP - 1);
    }
    SAP_ASSERT(numbers[0] == e.vertices[row + 1] && triangle == e.triangles[row + 1]);
}

// ---- The call

typedef void (*row_kernel)(extraction e);

template <sap_voxel type> static row_kernel kernel_of(bool makes) { return makes ? make<type> : classify<type>; }

static void launch(sap_cuda_call* call, const extraction* e, bool makes) {
    row_kernel kernel = kernel_of<SAP_VOXEL_F32>(makes);
    if (e->voxels.type == SAP_VOXEL_U8) kernel = kernel_of<SAP_VOXEL_U8>(makes);
    if (e->voxels.type == SAP_VOXEL_I16) kernel = kernel_of<SAP_VOXEL_I16>(makes);
    if (e->voxels.type == SAP_VOXEL_U16) kernel = kernel_of<SAP_VOXEL_U16>(makes);
    sap_cuda_launch(call, kernel, sap_cuda_grid_for(e->rows * SAP_WARP, ROW_THREADS), *e);
}

static size_t voxels_bytes(const sap_surface_job* job) {
    const size_t each = job->voxels.type == SAP_VOXEL_F32 ? 4 : job->voxels.type == SAP_VOXEL_U8 ? 1 : 2;
    return (size_t)(job->voxels.slice * job->lattice.sides[2]) * each;
}

// What is known of the volume before its surface is made; summary comes to the host.
static void survey(sap_cuda_call* call, const sap_surface_job* job, extraction* e, int64_t summary[3]) {
    const int* sides = job->lattice.sides;
    e->voxels = job->voxels;
    e->lattice = job->lattice;
    e->low_inside = job->low_inside;
    SAP_ASSERT(sides[0] >= 2 && sides[1] >= 2 && sides[2] >= 2);
    e->rows = (int64_t)sides[1] * sides[2];
    e->words = sap_row_words(sides[0]);
    e->voxels.values = sap_cuda_in(call, job->voxels.values, voxels_bytes(job));
    e->bits = (sap_word*)sap_cuda_take(call, (size_t)(e->rows * e->words) * sizeof *e->bits);
    e->vertices = (int64_t*)sap_cuda_take(call, (size_t)(e->rows + 1) * sizeof(int64_t));
    e->triangles = (int64_t*)sap_cuda_take(call, (size_t)(e->rows + 1) * sizeof(int64_t));
    e->bad = (unsigned long long*)sap_cuda_take(call, sizeof *e->bad);
    e->summary = (int64_t*)sap_cuda_take(call, 3 * sizeof(int64_t));
    sap_cuda_fill(call, e->bad, 255, sizeof *e->bad);
    launch(call, e, false);
    sap_cuda_launch(call, count, sap_cuda_grid_for(e->rows * SAP_WARP, ROW_THREADS), *e);
    sap_prefix_sum_cuda(call, e->vertices, e->rows);
    sap_prefix_sum_cuda(call, e->triangles, e->rows);
    sap_cuda_launch(call, summarise, sap_cuda_grid_for(1, 1), *e);
    sap_cuda_fetch(call, summary, e->summary, 3 * sizeof(int64_t));
}

// Makes a surface of so many bytes in memory of the GPU.
static void fill(sap_cuda_call* call, extraction* e, const int64_t summary[3], unsigned char* memory, size_t bytes) {
    const size_t triangles = sap_surface_array_bytes(summary[1]), vertices = (bytes - triangles) / 2;
    SAP_ASSERT(2 * vertices + triangles == bytes);
    e->positions = (float*)(void*)memory;
    e->normals = (float*)(void*)(memory + vertices);
    e->corners = (int32_t*)(void*)(memory + 2 * vertices);
    launch(call, e, true);
}

static sap_status extract(sap_cuda_call* call, const sap_surface_job* job, sap_isosurface** made) {
    extraction e = {};
    int64_t summary[3] = {0, 0, -1};
    size_t bytes = 0;
    const bool on_device = sap_cuda_on_device(call, job->voxels.values);
    survey(call, job, &e, summary);
    if (call->status != SAP_OK) return call->status;
    if (summary[2] >= 0) return sap_surface_not_finite(call->device, job, summary[2]);
    sap_status status = sap_surface_bytes(call->device, summary[0], summary[1], &bytes);
    if (status != SAP_OK) return status;
    sap_scratch memory = {NULL, bytes};
    memory.memory = (unsigned char*)(on_device ? sap_cuda_allocate(call, bytes) : sap_cuda_take(call, bytes));
    if (call->status == SAP_OK) fill(call, &e, summary, memory.memory, bytes);
    status = call->status;
    if (on_device) {
        if (status == SAP_OK)
            status = sap_surface_adopt(call->device, summary[0], summary[1], memory, sap_cuda_release, made);
        if (status != SAP_OK) sap_cuda_release(call->device, memory.memory, bytes);
        return status;
    }
    if (status == SAP_OK) status = sap_surface_reserve(call->device, summary[0], summary[1], made);
    if (status != SAP_OK) return status;
    call->waits = true;
    const size_t vertices = (size_t)summary[0] * 12, triangles = (size_t)summary[1] * 12;
    sap_cuda_copy(call, (void*)(uintptr_t)(*made)->mesh.vertices, e.positions, vertices);
    sap_cuda_copy(call, (void*)(uintptr_t)(*made)->normals, e.normals, vertices);
    sap_cuda_copy(call, (void*)(uintptr_t)(*made)->mesh.triangles, e.corners, triangles);
    return call->status;
}

extern "C" sap_status sap_surface_cuda(sap_device* device, const sap_surface_job* job) {
    sap_cuda_call call;
    sap_isosurface* made = NULL;
    sap_status status = sap_cuda_begin(&call, device);
    if (status == SAP_OK) status = extract(&call, job, &made);
    status = sap_cuda_end(&call, status);
    if (status == SAP_OK)
        *job->surface = made;
    else
        sap_isosurface_free(made);
    return status;
}
