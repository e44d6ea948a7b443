// The light of the nearest photons that count at points, on a GPU: a warp for each point, which adds them up where it has
// found them. render/photons/estimate.h says what is added.
#include "nearest/long/walk_warp_cuda.cuh"

extern "C" {
#include "tree/limit.h"
}
#include "render/photons/near_cuda.h"

enum { NEAR_WARPS = NEAREST_THREADS / SAP_WARP, SIDE_THREADS = 256 };

// Ways and normals of the photons in the tree's slots: the way and the normal's x, then its y and z.
typedef struct near_sides {
    float4* first;
    float2* second;
} near_sides;

static near_sides sides_of(const sap_photons* map) {
    near_sides sides;
    sides.first = (float4*)map->sides;
    sides.second = (float2*)(sides.first + map->tree->shape.slots);
    return sides;
}
static size_t sides_bytes(const sap_photons* map) {
    return (size_t)map->tree->shape.slots * (sizeof(float4) + sizeof(float2));
}

static __global__ void __launch_bounds__(SIDE_THREADS)
    photons_fill_sides(const __grid_constant__ walk_tree<float> t, int64_t slots, const sap_photon* photons,
                       near_sides sides) {
    const int64_t slot = (int64_t)blockIdx.x * SIDE_THREADS + threadIdx.x;
    if (slot >= slots) return;
    const int64_t from = slot / t.stride * t.stride;
    const int id = walk_leaf_at<float, 3>(t, from, t.capacity, t.stride).ids[slot - from];
    if (id < 0 || id >= t.count) return; // no photon is there
    const sap_photon* photon = &photons[id];
    sides.first[slot] =
        make_float4(photon->direction[0], photon->direction[1], photon->direction[2], photon->normal[0]);
    sides.second[slot] = make_float2(photon->normal[1], photon->normal[2]);
}

sap_status sap_sides_make_cuda(sap_photons* map) {
    sap_cuda_call call;
    if (map->info.count == 0) return SAP_OK;
    const sap_tree_shape* s = &map->tree->shape;
    SAP_ASSERT(s->kind == SAP_TREE_BALANCED && s->count == map->info.count);
    const sap_status status = sap_cuda_begin(&call, map->device);
    map->sides = (float*)sap_cuda_allocate(&call, sides_bytes(map));
    if (map->sides)
        sap_cuda_launch(&call, photons_fill_sides, sap_cuda_grid_for(s->slots, SIDE_THREADS),
                        walk_tree_of<float>(map->tree), s->slots, map->photons, sides_of(map));
    return sap_cuda_end(&call, status);
}

void sap_sides_free_cuda(sap_photons* map) {
    if (map->sides) sap_cuda_release(map->device, map->sides, sides_bytes(map));
}

// Photons that count at a point.
typedef struct near_choice {
    near_sides sides;
    float normal[3];
    __device__ __forceinline__ bool takes(int64_t slot, int) const {
        const float4 first = sides.first[slot];
        const float2 second = sides.second[slot];
        const sap_photon photon = {
            {0, 0, 0}, {first.w, second.x, second.y}, {first.x, first.y, first.z}, {0, 0, 0}, 0, 0, 0};
        return sap_photon_counts(&photon, normal);
    }
} near_choice;

// What each photon of a warp's list adds, the nearest first.
template <int slots> struct near_shared { double light[NEAR_WARPS][SAP_WARP * slots][3]; };

// Adds up a list of `want` photons, in its order: three lanes a colour each.
template <int slots>
static __device__ __forceinline__ void near_add(const sap_photon_rows& rows, int want, const warp_list<slots>& best,
                                                double (*light)[3], float* to) {
    const int none = SAP_WARP * slots - want; // places in front of the list
    int found = 0;
#pragma unroll
    for (int s = 0; s < slots; s++)
        found += __popc(
            __ballot_sync(SAP_ALL_LANES, SAP_WARP * s + best.lane >= none && sap_key_id(best.key[s]) != SAP_NO_ID));
    const bool full = found > rows.search.k;
    double farthest = 0;
#pragma unroll
    for (int s = 0; s < slots; s++) {
        const int from = none + found - 1 - SAP_WARP * s; // the lane of the farthest, if it is in this slot
        const float distance2 = __shfl_sync(SAP_ALL_LANES, sap_key_distance2(best.key[s]), from & (SAP_WARP - 1));
        if (found > 0 && from >= 0 && from < SAP_WARP) farthest = (double)distance2;
    }
    const double radius2 = sap_photon_radius2(&rows.search, full, farthest);
    if (!(radius2 > 0)) return;
    int count = 0; // of those that are added
#pragma unroll
    for (int s = 0; s < slots; s++) {
        const int at = SAP_WARP * s + best.lane - none;
        const double distance2 = (double)sap_key_distance2(best.key[s]);
        const bool is_one = at >= 0 && at < found - full && distance2 <= radius2;
        count += __popc(__ballot_sync(SAP_ALL_LANES, is_one));
        if (!is_one) continue;
        const double weight = sap_photon_weight((int)rows.search.filter, distance2, radius2);
        const float* power = rows.photons[sap_key_id(best.key[s])].power;
        for (int a = 0; a < 3; a++) light[at][a] = weight * (double)power[a];
    }
    __syncwarp();
    if (best.lane >= 3) return;
    double sum = 0;
    for (int i = 0; i < count; i++) sum += light[i][best.lane];
    to[best.lane] = (float)(sum / (SAP_PI * radius2));
}

template <int slots>
static __global__ void __launch_bounds__(NEAREST_THREADS)
    photons_near(const __grid_constant__ nearest_task<float> task, const __grid_constant__ sap_photon_rows rows,
                 near_sides sides) {
    SAP_CUDA_SHARED(near_shared<slots>, shared);
    const int64_t i = warp_number();
    thread_query<float, 3> mine;
    warp_list<slots> best;
    int nodes = 0, leaves = 0;
    if (i >= task.count || !read_query(task, i, &mine)) return;
    const float* normal = rows.normals + 3 * mine.row;
    if (!sap_photon_can_light(normal)) return;
    const near_choice may = {sides, {normal[0], normal[1], normal[2]}};
    best.begin(task.k, task.limit2);
    long_walk<3>(task.tree, mine.q, may, &best, &nodes, &leaves);
    near_add(rows, task.k, best, shared->light[threadIdx.x / SAP_WARP], rows.light + 3 * mine.row);
}

template <int slots>
static void near_launch(sap_cuda_call* call, const nearest_task<float>& task, const sap_photon_rows* rows,
                        const near_sides& sides) {
    sap_cuda_grid grid = sap_cuda_grid_for(task.count * SAP_WARP, NEAREST_THREADS);
    grid.shared = sizeof(near_shared<slots>);
    sap_cuda_launch(call, photons_near<slots>, grid, task, *rows, sides);
}

void sap_photons_near_cuda(sap_cuda_call* call, const sap_photons* map, const sap_points* points,
                           const sap_photon_rows* rows) {
    const sap_tree* tree = map->tree;
    const float radius = rows->search.radius;
    const sap_rows queries = {points->coords, points->count, points->stride, 3, 32};
    const int k = (int)rows->want;
    sap_nearest_plan plan;
    SAP_ASSERT(k >= 1 && k <= SAP_PHOTONS_NEAR_MOST && k <= map->info.count && !rows->which && !rows->from);
    memset(&plan, 0, sizeof plan);
    plan.queries = sap_cuda_queries_order(call, tree, &queries, false);
    plan.k = plan.row_length = k;
    plan.limit2 = sap_limit2_of(radius > 0 ? (double)radius : (double)INFINITY, 32);
    nearest_task<float> task = search_of<float>(call, tree, &plan).task;
    task.row_length = 0; // no rows are written
    (k <= 32    ? near_launch<1>
     : k <= 64  ? near_launch<2>
     : k <= 128 ? near_launch<4>
                : near_launch<8>)(call, task, rows, sides_of(map));
}
