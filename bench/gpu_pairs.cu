// Trees against trees: pairs within a radius, counts of pairs at many radii, and nearest points.
#include "gpu.cuh"

#include <vector>

enum { PAIRS_RADII = 20, PAIRS_K = 8 };
static const int64_t pairs_points = 1000000;
static const double pairs_radius = 0.019276,
                    pairs_longest = 0.1; // a ball that holds about 30 points; a tenth of the box

static gpu_row pairs_row(const char* work, int k) {
    gpu_row row = gpu_row_of(work, "", pairs_points, 3);
    row.k = k;
    row.queries = pairs_points;
    return row;
}

// Nearest points beside a batch of the same queries in any order, which is the target.
static void pairs_nearest(gpu_bench* b, const gpu_cloud* queries, const sap_tree* from, const sap_tree* tree) {
    int32_t* ids = (int32_t*)gpu_memory(pairs_points * PAIRS_K * sizeof(int32_t));
    int32_t* expected = (int32_t*)gpu_memory(pairs_points * PAIRS_K * sizeof(int32_t));
    const sap_search search = {PAIRS_K};
    const gpu_times batch =
        gpu_measure(b, [&] { GPU_SAP(sap_nearest(tree, gpu_points(queries), &search, expected, NULL)); });
    const gpu_times times = gpu_measure(b, [&] { GPU_SAP(sap_tree_nearest(from, tree, &search, ids, NULL)); });
    gpu_row row = pairs_row("pairs-nearest", PAIRS_K);
    row.target = batch.median;
    gpu_check_same(b, gpu_sampled(ids, GPU_SAMPLED * PAIRS_K), gpu_sampled(expected, GPU_SAMPLED * PAIRS_K),
                   "nearest points of a tree");
    gpu_report(b, row, times);
    GPU_CUDA(cudaFree(ids));
    GPU_CUDA(cudaFree(expected));
}

static void pairs_within(gpu_bench* b, const gpu_cloud* queries, const sap_tree* from, const sap_tree* tree) {
    const gpu_times times = gpu_measure(b, [&] {
        sap_neighbors* found = NULL;
        GPU_SAP(sap_tree_pairs(from, tree, pairs_radius, &found));
        sap_neighbors_free(found);
    });
    const gpu_times batch = gpu_measure(b, [&] {
        sap_neighbors* found = NULL;
        GPU_SAP(sap_radius(tree, gpu_points(queries), pairs_radius, &found));
        sap_neighbors_free(found);
    });
    gpu_row row = pairs_row("pairs-collect", 0);
    row.target = batch.median;
    gpu_report(b, row, times);
}

// Weights, whose sums are the CPU's bits. Those of two radii are compared.
static void pairs_weigh(gpu_bench* b, const sap_tree* from, const sap_tree* tree) {
    double radii[PAIRS_RADII], sums[PAIRS_RADII], few[2], expected[2];
    std::vector<double> weights(pairs_points);
    for (int i = 0; i < PAIRS_RADII; i++) radii[i] = pairs_longest * (i + 1) / PAIRS_RADII;
    for (size_t i = 0; i < weights.size(); i++) weights[i] = 1.0 / (double)(1 + i % 1000);
    const double* w = weights.data();
    const gpu_times times =
        gpu_measure(b, [&] { GPU_SAP(sap_tree_count_pairs(from, tree, radii, PAIRS_RADII, w, w, true, sums)); });
    gpu_report(b, pairs_row("pairs-weigh", PAIRS_RADII), times);
    sap_tree *host_from = gpu_host_tree(b, from), *host = gpu_host_tree(b, tree);
    GPU_SAP(sap_tree_count_pairs(from, tree, radii, 2, w, w, true, few));
    GPU_SAP(sap_tree_count_pairs(host_from, host, radii, 2, w, w, true, expected));
    gpu_compared(b, 2, (few[0] != expected[0]) + (few[1] != expected[1]), "weights of pairs");
    sap_tree_free(host_from);
    sap_tree_free(host);
}

// The CPU counts the two shortest radii for comparison.
static void pairs_count(gpu_bench* b, const sap_tree* from, const sap_tree* tree) {
    double radii[PAIRS_RADII], counts[PAIRS_RADII], few[PAIRS_RADII];
    for (int i = 0; i < PAIRS_RADII; i++) radii[i] = pairs_longest * (i + 1) / PAIRS_RADII;
    const gpu_times times = gpu_measure(
        b, [&] { GPU_SAP(sap_tree_count_pairs(from, tree, radii, PAIRS_RADII, NULL, NULL, true, counts)); });
    gpu_report(b, pairs_row("pairs-count", PAIRS_RADII), times);
    sap_tree *host_from = gpu_host_tree(b, from), *host = gpu_host_tree(b, tree);
    GPU_SAP(sap_tree_count_pairs(host_from, host, radii, 2, NULL, NULL, true, few));
    gpu_compared(b, 2, (counts[0] != few[0]) + (counts[1] != few[1]), "counts of pairs");
    sap_tree_free(host_from);
    sap_tree_free(host);
}

void gpu_pairs(gpu_bench* b) {
    if (!gpu_wanted(b, "pairs", pairs_points)) return;
    gpu_cloud points = gpu_cloud_make(b, GPU_UNIFORM, pairs_points, 3, 1),
              queries = gpu_cloud_make(b, GPU_UNIFORM, pairs_points, 3, 2);
    sap_tree *tree = NULL, *from = NULL;
    GPU_SAP(sap_tree_build(b->device, gpu_points(&points), NULL, &tree));
    GPU_SAP(sap_tree_build(b->device, gpu_points(&queries), NULL, &from));
    GPU_SAP(sap_device_wait(b->device));
    pairs_nearest(b, &queries, from, tree);
    pairs_within(b, &queries, from, tree);
    pairs_count(b, from, tree);
    pairs_weigh(b, from, tree);
    sap_tree_free(tree);
    sap_tree_free(from);
    gpu_cloud_free(&points);
    gpu_cloud_free(&queries);
    sap_device_trim(b->device);
}
