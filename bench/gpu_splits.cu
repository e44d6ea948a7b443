// Trees of both split rules, median and sliding midpoint, walked by a query a thread and by a warp together, after the
// charts of Sokolov and Tchouprakov ("Warped parallel nearest neighbor searches using kd-trees"): a cube, other points
// and a scan, queries in order and in none. One thing at a time is varied around k = 8 and leaves of 32. Beside the
// times stand the leaves that a query looks into, on the CPU and by each walk on the GPU.
#include "gpu.cuh"

#include <vector>

enum { SPLITS_K = 8, SPLITS_MOST_K = 16, SPLITS_LEAF = 32 };
static const double splits_least = 0.8; // of the median tree's speed, which a sliding-midpoint tree is to reach

typedef struct splits { // one set of data
    const char* name;
    gpu_cloud points, queries, ordered;
    float* host_queries;
    int32_t* ids;
    float* distance2;
    double median_ms[SPLITS_MOST_K + 1][2]; // of the median tree with leaves of 32, by k and order
} splits;

static gpu_row row_of(const splits* d, const char* work, const sap_tree* tree, int k, const char* order, bool warp) {
    static const char* const walks[2][2] = {{"median", "median-warp"}, {"sliding", "sliding-warp"}};
    gpu_row row = gpu_row_of(work, d->name, d->points.count, d->points.dims);
    sap_tree_info info;
    GPU_SAP(sap_tree_describe(tree, &info));
    row.queries = k ? d->queries.count : 0;
    row.k = k;
    row.leaf = info.options.leaf_size;
    row.depth = info.depth;
    row.walk = walks[info.options.split == SAP_SPLIT_SLIDING_MIDPOINT][warp];
    snprintf(row.order, sizeof row.order, "%s", order);
    return row;
}

static void report_leaves(gpu_bench* b, gpu_row row, const sap_search_stats* stats) {
    const double each = (double)stats->leaves / (double)row.queries;
    row.unit = "leaf";
    gpu_report(b, row, gpu_times{each, each, each});
}

static void search(gpu_bench* b, splits* d, const sap_tree* tree, const sap_tree* host, int k, bool ordered,
                   bool warp) {
    gpu_row row = row_of(d, "splits", tree, k, ordered ? "ordered" : "random", warp);
    const gpu_cloud* queries = ordered ? &d->ordered : &d->queries;
    sap_search search = {};
    sap_search_stats stats = {};
    search.k = k;
    search.ordered = ordered;
    search.walk = warp ? SAP_WALK_WARP : SAP_WALK_AUTO;
    // Nothing that an earlier row wrote may pass for an answer of this one.
    const size_t answers = (size_t)queries->count * (size_t)k;
    GPU_CUDA(cudaMemsetAsync(d->ids, 0xa5, answers * sizeof(int32_t), b->stream));
    GPU_CUDA(cudaMemsetAsync(d->distance2, 0xa5, answers * sizeof(float), b->stream));
    const gpu_times times =
        gpu_measure(b, [&] { GPU_SAP(sap_nearest(tree, gpu_points(queries), &search, d->ids, d->distance2)); });
    gpu_check_nearest(b, host, queries, k, d->ids, d->distance2, &row);
    if (row.leaf == SPLITS_LEAF && !warp) {
        double* median_ms = &d->median_ms[k][ordered];
        if (*median_ms == 0)
            *median_ms = times.median;
        else if (k == SPLITS_K)
            row.target = *median_ms / splits_least;
    }
    gpu_report(b, row, times);
    if (k != SPLITS_K) return;
    search.stats = &stats;
    GPU_SAP(sap_nearest(tree, gpu_points(queries), &search, d->ids, d->distance2));
    report_leaves(b, row_of(d, "splits-gpu", tree, k, row.order, warp), &stats);
}

static void leaves_on_the_cpu(gpu_bench* b, const splits* d, const sap_tree* host, int k) {
    const size_t answers = (size_t)d->queries.count * (size_t)k;
    std::vector<int32_t> ids(answers);
    sap_search_stats stats = {};
    sap_search search = {};
    search.k = k;
    search.stats = &stats;
    GPU_SAP(sap_nearest(host, sap_points{d->host_queries, d->queries.count, d->queries.dims, 0}, &search, ids.data(),
                        NULL));
    report_leaves(b, row_of(d, "splits-cpu", host, k, "random", false), &stats);
}

static void one_tree(gpu_bench* b, splits* d, sap_split split, int leaf) {
    sap_tree_options options = {};
    sap_tree* tree = NULL;
    options.split = split;
    options.leaf_size = leaf;
    GPU_SAP(sap_tree_build(b->device, gpu_points(&d->points), &options, &tree));
    const gpu_times build = gpu_measure(b, [&] { GPU_SAP(sap_tree_rebuild(tree, gpu_points(&d->points))); });
    gpu_verify(b, tree, "a tree of either split rule");
    gpu_report(b, row_of(d, "splits-build", tree, 0, "", false), build);
    sap_tree* host = gpu_host_tree(b, tree);
    for (int k : {1, (int)SPLITS_K, (int)SPLITS_MOST_K}) {
        if (k != SPLITS_K && leaf != SPLITS_LEAF) continue;
        leaves_on_the_cpu(b, d, host, k);
        for (bool ordered : {false, true})
            for (bool warp : {false, true}) search(b, d, tree, host, k, ordered, warp);
    }
    sap_tree_free(tree);
    sap_tree_free(host);
}

static void compare(gpu_bench* b, splits* d) {
    d->ordered = gpu_cloud_ordered(&d->queries);
    d->host_queries = gpu_cloud_download(&d->queries);
    d->ids = (int32_t*)gpu_memory((size_t)d->queries.count * SPLITS_MOST_K * sizeof(int32_t));
    d->distance2 = (float*)gpu_memory((size_t)d->queries.count * SPLITS_MOST_K * sizeof(float));
    for (int leaf : {8, 16, (int)SPLITS_LEAF, 64})
        for (sap_split split : {SAP_SPLIT_MEDIAN, SAP_SPLIT_SLIDING_MIDPOINT}) one_tree(b, d, split, leaf);
    for (gpu_cloud* cloud : {&d->points, &d->queries, &d->ordered}) gpu_cloud_free(cloud);
    free(d->host_queries);
    GPU_CUDA(cudaFree(d->ids));
    GPU_CUDA(cudaFree(d->distance2));
    sap_device_trim(b->device);
}

void gpu_splits(gpu_bench* b) {
    static const int64_t n = 1000000;
    if (!gpu_wanted(b, "splits", n)) return;
    for (gpu_kind kind : {GPU_UNIFORM, GPU_CLUSTERED, GPU_SURFACE}) {
        splits d = {};
        d.name = gpu_kind_names[kind];
        d.points = gpu_cloud_make(b, kind, n, 3, 1);
        d.queries = gpu_cloud_make(b, kind, n, 3, 2);
        compare(b, &d);
    }
    splits scan = {};
    scan.name = "scan";
    if (gpu_scan_read(b, &scan.points, &scan.queries)) compare(b, &scan);
}
