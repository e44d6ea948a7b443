// Searches for many neighbours on CUDA: a warp answers a query. For balanced trees of floats in 2 and 3 dimensions, and
// lists that are too long for one thread's registers.
#include "nearest/long/walk_warp_cuda.cuh"

template <int dims, int slots>
static __global__ void __launch_bounds__(NEAREST_THREADS)
    nearest_long(const __grid_constant__ nearest_task<float> task) {
    const int64_t i = warp_number();
    thread_query<float, dims> mine;
    warp_list<slots> best;
    int nodes = 0, leaves = 0;
    if (i >= task.count || !read_query(task, i, &mine)) return;
    best.begin(task.k, task.limit2);
    const long_others others = {mine.without};
    long_walk<dims>(task.tree, mine.q, others, &best, &nodes, &leaves);
    if (best.lane == 0) count_visits(task, nodes, leaves);
    long_write(task, mine.row, best);
}

template <int dims> static void launch_long(const nearest_search<float>& search) {
    const int k = search.task.k;
    const sap_cuda_grid grid = sap_cuda_grid_for(search.task.count * SAP_WARP, NEAREST_THREADS);
    sap_cuda_launch(search.call,
                    k <= 64    ? nearest_long<dims, 2>
                    : k <= 128 ? nearest_long<dims, 4>
                               : nearest_long<dims, 8>,
                    grid, search.task);
}

bool sap_nearest_long_f32(sap_cuda_call* call, const sap_tree* tree, const sap_nearest_plan* plan) {
    const sap_tree_shape* s = &tree->shape;
    if (plan->k <= SAP_NEAREST_LIST_MAX_CUDA || plan->k > SAP_NEAREST_LONG_MAX || plan->walk != SAP_WALK_AUTO ||
        s->kind != SAP_TREE_BALANCED || (s->dims != 2 && s->dims != 3))
        return false;
    const nearest_search<float> search = search_of<float>(call, tree, plan);
    if (s->dims == 2)
        launch_long<2>(search);
    else
        launch_long<3>(search);
    return true;
}
