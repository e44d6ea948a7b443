// The size of a leaf, and with it the depth of the tree, against time: on random points and on a scan (without one, on
// a surface), on the GPU and, if asked for, on the CPU with all its threads, which gets the same tree.
#include "gpu.cuh"

#include <vector>

typedef struct leaves { // one set of data
    const char* name;
    gpu_cloud points, queries, ordered;
    float* host_queries;
    int32_t* ids;
    float* distance2;
} leaves;

static gpu_row row_of(const leaves* d, const char* work, const sap_tree* tree, int k, const char* order) {
    gpu_row row = gpu_row_of(work, d->name, d->points.count, d->points.dims);
    sap_tree_info info;
    GPU_SAP(sap_tree_describe(tree, &info));
    row.queries = k ? d->queries.count : 0;
    row.k = k;
    row.leaf = info.options.leaf_size;
    row.depth = info.depth;
    snprintf(row.order, sizeof row.order, "%s", order);
    return row;
}

static void on_the_gpu(gpu_bench* b, leaves* d, sap_tree* tree, const sap_tree* host) {
    gpu_report(b, row_of(d, "leaf-build", tree, 0, ""),
               gpu_measure(b, [&] { GPU_SAP(sap_tree_rebuild(tree, gpu_points(&d->points))); }));
    for (int k : {1, 8}) {
        for (bool ordered : {false, true}) {
            gpu_row row = row_of(d, "leaf", tree, k, ordered ? "ordered" : "random");
            const gpu_cloud* queries = ordered ? &d->ordered : &d->queries;
            sap_search search = {};
            search.k = k;
            search.ordered = ordered;
            gpu_times times =
                gpu_measure(b, [&] { GPU_SAP(sap_nearest(tree, gpu_points(queries), &search, d->ids, d->distance2)); });
            gpu_check_nearest(b, host, queries, k, d->ids, d->distance2, &row);
            gpu_report(b, row, times);
        }
    }
}

static void on_the_cpu(gpu_bench* b, leaves* d, const sap_tree* host) {
    size_t answers = (size_t)d->queries.count * 8;
    std::vector<int32_t> ids(answers);
    std::vector<float> distance2(answers);
    sap_points queries = {d->host_queries, d->queries.count, d->queries.dims, 0};
    sap_search search = {};
    search.k = 8;
    gpu_times times = gpu_measure_on_host(
        b, 1, [&] { GPU_SAP(sap_nearest(host, queries, &search, ids.data(), distance2.data())); }, [] {});
    gpu_report(b, row_of(d, "cpu", host, 8, "random"), times);
}

static void sweep(gpu_bench* b, leaves* d) {
    d->ordered = gpu_cloud_ordered(&d->queries);
    d->host_queries = gpu_cloud_download(&d->queries);
    d->ids = (int32_t*)gpu_memory((size_t)d->queries.count * 8 * sizeof(int32_t));
    d->distance2 = (float*)gpu_memory((size_t)d->queries.count * 8 * sizeof(float));
    for (int leaf : {8, 12, 16, 24, 32, 48, 64}) {
        sap_tree_options options = {};
        sap_tree* tree = NULL;
        options.leaf_size = leaf;
        GPU_SAP(sap_tree_build(b->device, gpu_points(&d->points), &options, &tree));
        gpu_verify(b, tree, "a tree with other leaves");
        sap_tree* host = gpu_host_tree(b, tree);
        if (gpu_wanted(b, "leaf", d->points.count)) on_the_gpu(b, d, tree, host);
        if (b->cpu && gpu_wanted(b, "cpu", d->points.count)) on_the_cpu(b, d, host);
        sap_tree_free(tree);
        sap_tree_free(host);
    }
    gpu_cloud_free(&d->points);
    gpu_cloud_free(&d->queries);
    gpu_cloud_free(&d->ordered);
    free(d->host_queries);
    GPU_CUDA(cudaFree(d->ids));
    GPU_CUDA(cudaFree(d->distance2));
    sap_device_trim(b->device);
}

void gpu_leaves(gpu_bench* b) {
    static const int64_t n = 1000000;
    if (!gpu_wanted(b, "leaf", n) && !(b->cpu && gpu_wanted(b, "cpu", n))) return;
    leaves uniform = {}, other = {};
    uniform.name = "uniform";
    uniform.points = gpu_cloud_make(b, GPU_UNIFORM, n, 3, 1);
    uniform.queries = gpu_cloud_make(b, GPU_UNIFORM, n, 3, 2);
    sweep(b, &uniform);
    other.name = "scan";
    if (!gpu_scan_read(b, &other.points, &other.queries)) {
        other.name = "surface";
        other.points = gpu_cloud_make(b, GPU_SURFACE, n, 3, 1);
        other.queries = gpu_cloud_make(b, GPU_SURFACE, n, 3, 2);
    }
    sweep(b, &other);
}
