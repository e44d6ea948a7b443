// Steps of points that are projected, on a GPU: sixteen threads ask for each point together, a thread for each lane of the
// sums. A sibling of cloud/project_simd.c, whose lanes are those of registers.
#include "cloud/ops.h"
#include "device/progress.h"
#include "tree/tree_cuda.h"

enum {
    PROJECT_LANES = 16,
    PROJECT_HALF = PROJECT_LANES / 2,
    PROJECT_THREADS = 128,
    PROJECT_WEIGHT = 3, // the sum after those of offsets
    PROJECT_SUMS
};

// What points count: see cloud/project_simd.c.
enum { PROJECT_DENSITY, PROJECT_MEAN, PROJECT_MEDIAN, PROJECT_PUSH };

// A tree, and how far points reach.
typedef struct project_task {
    sap_tree tree;
    const int64_t* bad;
    const float* weights; // by slot, or NULL
    float limit, inverse, least;
} project_task;

static project_task project_task_of(const sap_tree* tree, const float* weights, double limit2) {
    project_task t;
    t.tree = *tree;
    t.bad = sap_cuda_tree_of(tree)->bad;
    t.weights = weights;
    t.limit = (float)limit2;
    t.inverse = 1 / t.limit;
    t.least = t.limit * 0x1p-80f;
    if (!(t.least > 0)) t.least = FLT_TRUE_MIN;
    return t;
}

static __device__ __forceinline__ unsigned int project_first_lane() { return threadIdx.x & PROJECT_LANES; }
static __device__ __forceinline__ unsigned int project_team() { return 0xffffu << project_first_lane(); }
static __device__ __forceinline__ int project_lane() { return (int)(threadIdx.x % PROJECT_LANES); }

static __device__ __forceinline__ const float* project_block(const sap_tree& tree, int64_t leaf) {
    return (const float*)(tree.arrays + tree.shape.block_at +
                          (size_t)(leaf * tree.shape.stride) * (3 * sizeof(float) + sizeof(int32_t)));
}

// Points of a leaf.
static __device__ __forceinline__ int project_points(const sap_tree_shape& s, int64_t leaf) {
    return (int)(((leaf + 1) * s.count >> s.depth) - (leaf * s.count >> s.depth));
}

// The boxes of a group that come within the limit.
static __device__ __forceinline__ unsigned int project_boxes(const project_task& t, int level, int64_t group,
                                                             const float (&at)[3]) {
    const float* boxes = (const float*)(t.tree.arrays + t.tree.shape.box_at[level]) + group * (3 * 2 * SAP_GROUP);
    const int lane = project_lane();
    float bound2 = 0;
    static_assert((int)SAP_GROUP == (int)PROJECT_LANES, "a lane has a box");
    for (int a = 0; a < 3; a++) {
        const float below = boxes[2 * a * SAP_GROUP + lane] - at[a],
                    above = at[a] - boxes[(2 * a + 1) * SAP_GROUP + lane];
        const float d = fmaxf(fmaxf(below, above), 0.0f);
        bound2 = a ? bound2 + d * d : d * d;
    }
    return __ballot_sync(project_team(), bound2 <= t.limit) >> project_first_lane() & 0xffffu;
}

template <int kind>
static __device__ __forceinline__ void project_leaf(const project_task& t, int64_t leaf, const float (&at)[3],
                                                    float (&part)[PROJECT_SUMS]) {
    const int stride = t.tree.shape.stride;
    const float* block = project_block(t.tree, leaf);
    for (int slot = project_lane(); slot < stride; slot += PROJECT_LANES) {
        float d[3], distance2 = 0;
        for (int a = 0; a < 3; a++) {
            d[a] = block[a * stride + slot] - at[a];
            distance2 = a ? distance2 + d[a] * d[a] : d[a] * d[a];
        }
        if (!(distance2 <= t.limit) || (kind >= PROJECT_MEDIAN && distance2 < t.least)) continue;
        const float q = distance2 * t.inverse, near = 1 - q, square = near * near;
        float w = square * square;
        if (kind == PROJECT_PUSH) w = w / q;
        if (kind == PROJECT_MEDIAN) w = w / sqrtf(q);
        if (t.weights) w = w * t.weights[leaf * stride + slot];
        for (int a = 0; kind != PROJECT_DENSITY && a < 3; a++) part[a] = part[a] + w * d[a];
        part[PROJECT_WEIGHT] = part[PROJECT_WEIGHT] + w;
    }
}

// The sums around a place, in all threads of the team.
template <int kind>
static __device__ __forceinline__ void project_around(const project_task& t, const float (&at)[3],
                                                      double (&sums)[PROJECT_SUMS]) {
    const int last = t.tree.shape.levels - 1;
    unsigned int pending[SAP_MAX_LEVELS];
    int64_t groups[SAP_MAX_LEVELS], group = 0;
    double sum[PROJECT_SUMS] = {0, 0, 0, 0};
    int level = 0;
    do {
        unsigned int todo = project_boxes(t, level, group, at);
        if (level < last) {
            groups[level] = group;
            pending[level] = todo;
        } else {
            float part[PROJECT_SUMS] = {0, 0, 0, 0};
            for (; todo; todo &= todo - 1) project_leaf<kind>(t, group * SAP_GROUP + __ffs((int)todo) - 1, at, part);
            for (int s = 0; s < PROJECT_SUMS; s++) {
                const float both = part[s] + __shfl_xor_sync(project_team(), part[s], PROJECT_HALF);
                sum[s] += (double)both;
            }
            level--;
        }
        while (level >= 0 && !pending[level]) level--;
        if (level < 0) break;
        group = groups[level] * SAP_GROUP + __ffs((int)pending[level]) - 1;
        pending[level] &= pending[level] - 1;
        level++;
    } while (true);
    for (int s = 0; s < PROJECT_SUMS; s++) {
        sums[s] = 0;
        for (int lane = 0; lane < PROJECT_HALF; lane++)
            sums[s] += __shfl_sync(project_team(), sum[s], (int)project_first_lane() + lane);
    }
}

// The slot of a team, and whether there is a point.
static __device__ __forceinline__ bool project_slot(const sap_tree& tree, int64_t* leaf, int* at) {
    const int64_t slot = ((int64_t)blockIdx.x * PROJECT_THREADS + threadIdx.x) / PROJECT_LANES;
    const sap_tree_shape& s = tree.shape;
    if (slot >= s.slots) return false;
    *leaf = slot / s.stride;
    *at = (int)(slot % s.stride);
    return *at < project_points(s, *leaf);
}

static __device__ __forceinline__ void project_place(const sap_tree& tree, int64_t leaf, int slot, float (&at)[3]) {
    for (int a = 0; a < 3; a++) at[a] = project_block(tree, leaf)[a * tree.shape.stride + slot];
}

static __global__ void __launch_bounds__(PROJECT_THREADS)
    project_densities(const __grid_constant__ project_task t, bool inverse, float* weights) {
    int64_t leaf;
    int slot;
    float at[3];
    double sums[PROJECT_SUMS];
    if (*t.bad != INT64_MAX || !project_slot(t.tree, &leaf, &slot)) return;
    project_place(t.tree, leaf, slot, at);
    project_around<PROJECT_DENSITY>(t, at, sums);
    const double sum = sums[PROJECT_WEIGHT];
    if (project_lane() == 0) weights[leaf * t.tree.shape.stride + slot] = (float)(inverse ? 1 / sum : sum);
}

template <int kind>
static __global__ void __launch_bounds__(PROJECT_THREADS)
    project_move(const __grid_constant__ project_task given, const __grid_constant__ project_task moving, double push,
                 float* moved) {
    int64_t leaf;
    int slot;
    float at[3];
    double drawn[PROJECT_SUMS] = {0, 0, 0, 0}, pushed[PROJECT_SUMS];
    if (*given.bad != INT64_MAX || *moving.bad != INT64_MAX || !project_slot(moving.tree, &leaf, &slot)) return;
    project_place(moving.tree, leaf, slot, at);
    if (given.tree.shape.count) project_around<kind>(given, at, drawn);
    project_around<PROJECT_PUSH>(moving, at, pushed);
    const int32_t id = ((const int32_t*)(project_block(moving.tree, leaf) + 3 * moving.tree.shape.stride))[slot];
    for (int a = 0; a < 3 && project_lane() == 0; a++) {
        const double draw = drawn[PROJECT_WEIGHT] > 0 ? drawn[a] / drawn[PROJECT_WEIGHT] : 0;
        const double away = pushed[PROJECT_WEIGHT] > 0 ? pushed[a] / pushed[PROJECT_WEIGHT] : 0;
        moved[3 * (int64_t)id + a] = (float)(((double)at[a] + draw) - push * away);
    }
}

// Leaf l has the ranks from l * n >> depth on, so rank r is in the last leaf l with l * n < (r + 1) << depth.
static __global__ void __launch_bounds__(PROJECT_THREADS)
    project_starts(const __grid_constant__ project_task t, int64_t count, float* at) {
    const int64_t i = (int64_t)blockIdx.x * PROJECT_THREADS + threadIdx.x;
    const sap_tree_shape& s = t.tree.shape;
    if (i >= count || *t.bad != INT64_MAX) return;
    const int64_t rank = (int64_t)((2 * (uint64_t)i + 1) * (uint64_t)s.count / (2 * (uint64_t)count));
    const int64_t leaf = (((rank + 1) << s.depth) - 1) / s.count;
    float place[3];
    project_place(t.tree, leaf, (int)(rank - (leaf * s.count >> s.depth)), place);
    for (int a = 0; a < 3; a++) at[3 * i + a] = place[a];
}

static sap_status project_place_all(const sap_tree* tree, int64_t count, float* at) {
    sap_cuda_call call;
    if (sap_cuda_begin(&call, tree->device) == SAP_OK)
        sap_cuda_launch(&call, project_starts, sap_cuda_grid_for(count, PROJECT_THREADS),
                        project_task_of(tree, NULL, 1), count, at);
    return sap_cuda_end(&call, SAP_OK);
}

static sap_status project_end(sap_cuda_call* call, const sap_tree* tree, sap_progress_state* progress) {
    const sap_status status = sap_cuda_end(call, SAP_OK);
    if (status != SAP_OK || !progress || sap_progress_add(progress, tree->shape.count)) return status;
    return sap_fail(tree->device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
}

static sap_status project_find_densities(const sap_tree* tree, double limit2, bool inverse, float* weights,
                                         sap_progress_state* progress) {
    const int teams = PROJECT_THREADS / PROJECT_LANES;
    sap_cuda_call call;
    if (sap_cuda_begin(&call, tree->device) == SAP_OK) {
        sap_cuda_grid grid = sap_cuda_grid_for(tree->shape.slots, teams);
        grid.threads = PROJECT_THREADS;
        sap_cuda_launch(&call, project_densities, grid, project_task_of(tree, NULL, limit2), inverse, weights);
    }
    return project_end(&call, tree, progress);
}

static sap_status project_move_all(const sap_project_step* step, sap_progress_state* progress) {
    const int teams = PROJECT_THREADS / PROJECT_LANES;
    const sap_tree* moving = step->moving;
    sap_cuda_call call;
    if (sap_cuda_begin(&call, moving->device) == SAP_OK) {
        sap_cuda_grid grid = sap_cuda_grid_for(moving->shape.slots, teams);
        grid.threads = PROJECT_THREADS;
        sap_cuda_launch(&call, step->to_median ? project_move<PROJECT_MEDIAN> : project_move<PROJECT_MEAN>, grid,
                        project_task_of(step->given, step->given_weights, step->limit2),
                        project_task_of(moving, step->moving_weights, step->limit2), step->push, step->moved);
    }
    return project_end(&call, moving, progress);
}

extern "C" const sap_project_ops sap_cloud_project_cuda = {project_place_all, project_find_densities, project_move_all};
