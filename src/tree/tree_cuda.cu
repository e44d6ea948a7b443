// Point trees on CUDA devices: their memory, their walk boxes, copies from and to host memory, and bad points.
#include "tree/order_cuda.cuh"
#include "tree/tree_cuda.h"

// ---- Memory

enum { CLEAR_THREADS = 128 };

sap_cuda_clearing sap_cuda_clearing_of(const sap_tree* tree) {
    const sap_tree_shape* s = &tree->shape;
    sap_cuda_clearing c;
    memset((void*)&c, 0, sizeof c);
    c.arrays = tree->arrays;
    c.bad = sap_cuda_tree_of(tree)->bad;
    c.gaps = sap_shape_gaps(s, c.gap);
    c.gap[c.gaps].at = s->bytes;
    c.gap[c.gaps++].bytes = SAP_ALIGNMENT;
    if (s->kind == SAP_TREE_BALANCED) {
        c.gap[c.gaps].at = s->split_at;
        c.gap[c.gaps++].bytes = sap_real_bytes(s);
        c.gap[c.gaps].at = s->axis_at;
        c.gap[c.gaps++].bytes = 1;
    }
    SAP_ASSERT(c.gaps <= (int32_t)(sizeof c.gap / sizeof c.gap[0]));
    if (s->kind == SAP_TREE_EXPLICIT || s->level_depth[0] >= SAP_GROUP_BITS) return c;
    c.empty = 2 * s->dims * SAP_GROUP;
    c.boxes_at = s->box_at[0];
    c.ids_at = s->min_id_at[0];
    return c;
}

template <typename real>
static __global__ void __launch_bounds__(CLEAR_THREADS) clear_arrays(const __grid_constant__ sap_cuda_clearing c) {
    sap_cuda_clear<real>(c, threadIdx.x, CLEAR_THREADS);
}

void sap_cuda_tree_clear(sap_cuda_call* call, const sap_tree* tree) {
    if (call->status != SAP_OK) return;
    const sap_cuda_grid one = {1, CLEAR_THREADS, 0, false};
    if (tree->shape.real_bits == 32)
        sap_cuda_launch(call, clear_arrays<float>, one, sap_cuda_clearing_of(tree));
    else
        sap_cuda_launch(call, clear_arrays<double>, one, sap_cuda_clearing_of(tree));
}

size_t sap_cuda_walk_bytes(const sap_tree_shape* s) {
    int64_t nodes = s->kind == SAP_TREE_BALANCED ? 2 * s->leaves : s->nodes;
    return (size_t)nodes * (size_t)sap_walk_box_reals(s->dims, s->real_bits) * sap_real_bytes(s);
}

// Makes an empty tree->beside.
static void make_beside(sap_cuda_call* call, sap_tree* tree) {
    sap_cuda_tree* beside = (sap_cuda_tree*)sap_memory_allocate_zero(call->device, sizeof *beside);
    if (!beside) {
        call->status = sap_fail(call->device, SAP_ERROR_MEMORY, "no memory for a tree");
        return;
    }
    beside->bad = (int64_t*)sap_cuda_allocate(call, sizeof(int64_t));
    if (beside->bad)
        tree->beside = beside;
    else
        sap_memory_release(call->device, beside, sizeof *beside);
}

// Makes the place for the first bad row that sap_device_wait reports.
static void make_device_bad(sap_cuda_call* call) {
    sap_cuda* cuda = call->cuda;
    if (call->waits || cuda->bad) return;
    int64_t none = INT64_MAX;
    int64_t* bad = (int64_t*)sap_cuda_allocate(call, sizeof none);
    sap_cuda_copy(call, bad, &none, sizeof none);
    cuda->bad = bad;
}

void sap_cuda_tree_reserve(sap_cuda_call* call, sap_tree* tree, const sap_tree_shape* shape) {
    if (call->status != SAP_OK) return;
    if (!tree->beside) make_beside(call, tree);
    make_device_bad(call);
    if (call->status != SAP_OK) return;
    sap_cuda_tree* beside = sap_cuda_tree_of(tree);
    size_t need = shape->bytes + SAP_ALIGNMENT, boxes = sap_cuda_walk_bytes(shape);
    void *new_arrays = NULL, *new_boxes = NULL;
    if (need > tree->memory.allocated) new_arrays = sap_cuda_allocate(call, need);
    if (boxes > beside->boxes_bytes) new_boxes = sap_cuda_allocate(call, boxes);
    // Taken now: if it fails, the old tree is still there.
    if (shape->kind == SAP_TREE_EXPLICIT)
        beside->links = sap_cuda_take(call, (size_t)shape->nodes * SAP_CUDA_LINK_BYTES);
    if (call->status != SAP_OK) {
        sap_cuda_release(call->device, new_arrays, need);
        sap_cuda_release(call->device, new_boxes, boxes);
        return;
    }
    if (new_arrays) {
        sap_cuda_release(call->device, tree->arrays, tree->memory.allocated);
        tree->arrays = (unsigned char*)new_arrays;
        tree->memory.allocated = need;
    }
    if (new_boxes) {
        sap_cuda_release(call->device, beside->boxes, beside->boxes_bytes);
        beside->boxes = new_boxes;
        beside->boxes_bytes = boxes;
    }
    tree->shape = *shape;
    call->reserved = true;
}

void sap_tree_free_arrays_cuda(sap_tree* tree) {
    sap_cuda_tree* beside = sap_cuda_tree_of(tree);
    sap_cuda_release(tree->device, tree->arrays, tree->memory.allocated);
    tree->arrays = NULL;
    if (!beside) return;
    sap_cuda_release(tree->device, beside->boxes, beside->boxes_bytes);
    sap_cuda_release(tree->device, beside->bad, sizeof(int64_t));
    sap_memory_release(tree->device, beside, sizeof *beside);
    tree->beside = NULL;
}

// ---- Walk boxes of balanced trees

enum { BOXES_THREADS = 256 };

// One thread for each box that the tree keeps. Half a warp holds a group of siblings; from their boxes follow those of
// the levels above, up to the next level that is kept. All levels at once.
template <typename real>
static __global__ void __launch_bounds__(BOXES_THREADS)
    walk_boxes(sap_tree tree, real* boxes, int64_t most, const int64_t* bad) {
    const sap_tree_shape* s = &tree.shape;
    int64_t i = (int64_t)blockIdx.x * BOXES_THREADS + threadIdx.x;
    if (i >= most || *bad != INT64_MAX) return; // whole half-warps; a build over bad points leaves no boxes
    const unsigned int half = 0xffffu << (threadIdx.x & 16);
    int level = s->levels - 1;
    for (int64_t size; i >= (size = SAP_GROUP * (s->level_depth[level] <= SAP_GROUP_BITS
                                                     ? (int64_t)1
                                                     : (int64_t)1 << (s->level_depth[level] - SAP_GROUP_BITS)));
         level--)
        i -= size;
    SAP_ASSERT(level >= 0 && level < s->levels);
    const int depth = s->level_depth[level], reals = sap_walk_box_reals(s->dims, s->real_bits);
    const int lane = (int)(threadIdx.x & 15), up = level == 0 ? depth : SAP_GROUP_BITS - 1;
    const bool is_node = i >> depth == 0; // the first level may have fewer than a group holds
    const real* kept = (const real*)(tree.arrays + s->box_at[level]) + i / SAP_GROUP * s->dims * 2 * SAP_GROUP + lane;
    for (int a = 0; a <= s->dims; a++) {
        real low = 0, high = 0;
        int id = 0;
        if (is_node && a == s->dims) id = ((const int32_t*)(tree.arrays + s->min_id_at[level]))[i];
        if (is_node && a < s->dims) {
            low = kept[2 * SAP_GROUP * a];
            high = kept[2 * SAP_GROUP * a + SAP_GROUP];
        }
        for (int step = 0; step <= up; step++) {
            if (step > 0) {
                const int other = 1 << (step - 1);
                real below = __shfl_xor_sync(half, low, other), above = __shfl_xor_sync(half, high, other);
                int least = __shfl_xor_sync(half, id, other);
                low = below < low ? below : low;
                high = above > high ? above : high;
                id = least < id ? least : id;
            }
            if (lane >> step << step != lane || !is_node) continue;
            real* box = boxes + (((int64_t)1 << (depth - step)) + (i >> step)) * reals;
            if (a < s->dims) {
                box[2 * a] = low;
                box[2 * a + 1] = high;
            } else {
                *(int32_t*)(box + 2 * a) = id;
            }
        }
    }
}

void sap_cuda_tree_boxes(sap_cuda_call* call, sap_tree* tree) {
    if (call->status != SAP_OK) return;
    const sap_tree_shape* s = &tree->shape;
    if (s->kind == SAP_TREE_EXPLICIT) {
        sap_cuda_boxes_explicit(call, tree);
        return;
    }
    int64_t boxes = 0;
    for (int32_t j = 0; j < s->levels; j++) boxes += SAP_GROUP * sap_level_groups(s, j);
    sap_cuda_grid grid = sap_cuda_grid_for(boxes, BOXES_THREADS);
    if (s->real_bits == 32)
        sap_cuda_launch(call, walk_boxes<float>, grid, *tree, (float*)sap_cuda_tree_of(tree)->boxes, boxes,
                        (const int64_t*)sap_cuda_tree_of(tree)->bad);
    else
        sap_cuda_launch(call, walk_boxes<double>, grid, *tree, (double*)sap_cuda_tree_of(tree)->boxes, boxes,
                        (const int64_t*)sap_cuda_tree_of(tree)->bad);
}

// ---- To and from the host

sap_status sap_tree_copy_in_cuda(sap_tree* tree, const unsigned char* arrays) {
    sap_cuda_call call;
    sap_tree_shape shape = tree->shape;
    sap_cuda_begin(&call, tree->device);
    call.waits = true; // the caller may free the arrays right after the call
    sap_cuda_tree_reserve(&call, tree, &shape);
    sap_cuda_tree_clear(&call, tree);
    sap_cuda_copy(&call, tree->arrays, arrays, shape.bytes);
    sap_cuda_tree_boxes(&call, tree);
    return sap_cuda_end(&call, SAP_OK);
}

sap_status sap_tree_copy_out_cuda(const sap_tree* tree, size_t at, size_t bytes, void* to) {
    sap_cuda_call call;
    sap_cuda_begin(&call, tree->device);
    call.waits = true;
    sap_cuda_copy(&call, to, tree->arrays + at, bytes);
    return sap_cuda_end(&call, SAP_OK);
}

// ---- Bad points

enum { CHECK_THREADS = 256 };

template <typename real>
static __global__ void __launch_bounds__(CHECK_THREADS)
    find_bad(const real* coords, int64_t count, int64_t stride, int dims, real most, bool finite_only, int64_t* bad) {
    for (int64_t i = (int64_t)blockIdx.x * CHECK_THREADS + threadIdx.x; i < count;
         i += (int64_t)gridDim.x * CHECK_THREADS) {
        bool good = true, finite = true;
        for (int a = 0; a < dims; a++) {
            const real x = coords[i * stride + a];
            good = good && x >= -most && x <= most;
            finite = finite && isfinite(x);
        }
        if (!good && (finite || !finite_only)) atomicMin((unsigned long long*)bad, (unsigned long long)i);
    }
}

// Names what is wrong with a row on the device.
static void refuse(sap_cuda_call* call, const sap_rows* rows, int64_t row) {
    double point[SAP_MAX_DIMS];
    size_t real = (size_t)rows->real_bits / 8;
    const unsigned char* at = (const unsigned char*)rows->coords + (size_t)(row * rows->stride) * real;
    sap_cuda_fetch(call, point, at, (size_t)rows->dims * real);
    if (call->status == SAP_OK) call->status = sap_point_refuse(call->device, point, rows->dims, rows->real_bits, row);
}

void sap_cuda_rows_check(sap_cuda_call* call, const sap_tree_options* options, const sap_rows* rows) {
    int64_t none = INT64_MAX, row = none;
    double most = sap_largest_coordinate(rows->real_bits, rows->dims);
    int64_t* bad = (int64_t*)sap_cuda_take(call, sizeof none);
    sap_cuda_copy(call, bad, &none, sizeof none);
    sap_cuda_grid grid = sap_cuda_grid_for(rows->count, CHECK_THREADS);
    if (call->status == SAP_OK && grid.blocks > 8 * (int64_t)call->cuda->multiprocessors)
        grid.blocks = 8 * (int64_t)call->cuda->multiprocessors;
    if (rows->real_bits == 32)
        sap_cuda_launch(call, find_bad<float>, grid, (const float*)rows->coords, rows->count, rows->stride,
                        (int)rows->dims, (float)most, options->drop_nonfinite, bad);
    else
        sap_cuda_launch(call, find_bad<double>, grid, (const double*)rows->coords, rows->count, rows->stride,
                        (int)rows->dims, most, options->drop_nonfinite, bad);
    sap_cuda_fetch(call, &row, bad, sizeof row);
    if (call->status == SAP_OK && row != INT64_MAX) refuse(call, rows, row);
}

void sap_cuda_tree_built(sap_cuda_call* call, const sap_tree* tree, const sap_rows* rows) {
    int64_t row = INT64_MAX;
    if (call->status != SAP_OK || !call->waits) return;
    sap_cuda_fetch(call, &row, sap_cuda_tree_of(tree)->bad, sizeof row);
    if (call->status == SAP_OK && row != INT64_MAX) refuse(call, rows, row);
}
