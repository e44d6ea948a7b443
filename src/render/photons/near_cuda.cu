// Searches on a GPU for the nearest photons that count at points: a warp for each.
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

template <int slots>
static __global__ void __launch_bounds__(NEAREST_THREADS)
    photons_near(const __grid_constant__ nearest_task<float> task, const sap_photon* photons, const float* normals) {
    const int64_t i = warp_number();
    thread_query<float, 3> mine;
    warp_list<slots> best;
    int nodes = 0, leaves = 0;
    if (i >= task.count || !read_query(task, i, &mine)) return;
    const float* normal = normals + 3 * mine.row;
    if (!sap_photon_can_light(normal)) return fill_row(task, mine.row, 0);
    const near_choice may = {photons, {normal[0], normal[1], normal[2]}};
    best.begin(task.k, task.limit2);
    long_walk<3>(task.tree, mine.q, may, &best, &nodes, &leaves);
    long_write(task, mine.row, best);
}

void sap_photons_near_cuda(sap_cuda_call* call, const sap_photons* map, const sap_points* points,
                           const sap_photon_rows* rows, int32_t* ids, float* distance2) {
    const sap_tree* tree = map->tree;
    const float radius = rows->search.radius, *normals = rows->normals + 3 * rows->from;
    const sap_rows queries = {points->coords, points->count, points->stride, 3, 32};
    const int k = (int)rows->want;
    sap_nearest_plan plan;
    SAP_ASSERT(k >= 1 && k <= SAP_PHOTONS_NEAR_MOST && k <= map->info.count && !rows->which);
    memset(&plan, 0, sizeof plan);
    plan.queries = sap_cuda_queries_order(call, tree, &queries, false);
    plan.k = plan.row_length = k;
    plan.limit2 = sap_limit2_of(radius > 0 ? (double)radius : (double)INFINITY, 32);
    plan.ids = ids;
    plan.distance2 = distance2;
    const nearest_search<float> asked = search_of<float>(call, tree, &plan);
    const sap_cuda_grid grid = sap_cuda_grid_for(points->count * SAP_WARP, NEAREST_THREADS);
    sap_cuda_launch(call,
                    k <= 32    ? photons_near<1>
                    : k <= 64  ? photons_near<2>
                    : k <= 128 ? photons_near<4>
                               : photons_near<8>,
                    grid, asked.task, map->photons, normals);
}
