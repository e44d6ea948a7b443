// The light of the nearest photons that count at points, on a GPU: a warp for each point, which adds them up where it has
// found them. render/photons/estimate.h says what is added.
#include "nearest/long/walk_warp_cuda.cuh"

extern "C" {
#include "tree/limit.h"
}
#include "render/photons/near_cuda.h"

// Photons that count at a point.
typedef struct near_choice {
    const sap_photon* photons;
    float normal[3];
    __device__ __forceinline__ bool takes(int id) const { return sap_photon_counts(&photons[id], normal); }
} near_choice;

enum { NEAR_WARPS = NEAREST_THREADS / SAP_WARP };

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
    photons_near(const __grid_constant__ nearest_task<float> task, const __grid_constant__ sap_photon_rows rows) {
    SAP_CUDA_SHARED(near_shared<slots>, shared);
    const int64_t i = warp_number();
    thread_query<float, 3> mine;
    warp_list<slots> best;
    int nodes = 0, leaves = 0;
    if (i >= task.count || !read_query(task, i, &mine)) return;
    const float* normal = rows.normals + 3 * mine.row;
    if (!sap_photon_can_light(normal)) return;
    const near_choice may = {rows.photons, {normal[0], normal[1], normal[2]}};
    best.begin(task.k, task.limit2);
    long_walk<3>(task.tree, mine.q, may, &best, &nodes, &leaves);
    near_add(rows, task.k, best, shared->light[threadIdx.x / SAP_WARP], rows.light + 3 * mine.row);
}

template <int slots>
static void near_launch(sap_cuda_call* call, const nearest_task<float>& task, const sap_photon_rows* rows) {
    sap_cuda_grid grid = sap_cuda_grid_for(task.count * SAP_WARP, NEAREST_THREADS);
    grid.shared = sizeof(near_shared<slots>);
    sap_cuda_launch(call, photons_near<slots>, grid, task, *rows);
}

void sap_photons_near_cuda(sap_cuda_call* call, const sap_photons* map, const sap_points* points, bool ordered,
                           const sap_photon_rows* rows) {
    const sap_tree* tree = map->tree;
    const float radius = rows->search.radius;
    const sap_rows queries = {points->coords, points->count, points->stride, 3, 32};
    const int k = (int)rows->want;
    sap_nearest_plan plan;
    SAP_ASSERT(k >= 1 && k <= SAP_PHOTONS_NEAR_MOST && k <= map->info.count && !rows->which && !rows->from);
    memset(&plan, 0, sizeof plan);
    plan.queries = sap_cuda_queries_order(call, tree, &queries, ordered);
    plan.k = plan.row_length = k;
    plan.limit2 = sap_limit2_of(radius > 0 ? (double)radius : (double)INFINITY, 32);
    nearest_task<float> task = search_of<float>(call, tree, &plan).task;
    task.row_length = 0; // no rows are written
    (k <= 32    ? near_launch<1>
     : k <= 64  ? near_launch<2>
     : k <= 128 ? near_launch<4>
                : near_launch<8>)(call, task, rows);
}
