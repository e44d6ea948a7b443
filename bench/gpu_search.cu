// Searches: nearest neighbours of other points, on kept trees and together with the build; radii.
#include "gpu.cuh"

static const int ks[] = {1, 8, 16};
static const char* const walk_names[] = {"auto", "stack", "stackless", "warp", "packet"};

typedef struct stage { // data of one size
    gpu_cloud points, queries, ordered;
    sap_tree *tree, *host; // host: the same on the CPU
    int32_t* ids;
    float* distance2;
} stage;

static void open_stage(gpu_bench* b, stage* s, gpu_kind kind, int64_t n, int64_t queries, int dims, bool ordered) {
    *s = {};
    s->points = gpu_cloud_make(b, kind, n, dims, 1);
    s->queries = gpu_cloud_make(b, kind, queries, dims, 2);
    if (ordered) s->ordered = gpu_cloud_ordered(&s->queries);
    s->ids = (int32_t*)gpu_memory((size_t)queries * 16 * sizeof(int32_t));
    s->distance2 = (float*)gpu_memory((size_t)queries * 16 * sizeof(float));
    GPU_SAP(sap_tree_build(b->device, gpu_points(&s->points), NULL, &s->tree));
    GPU_SAP(sap_device_wait(b->device));
    gpu_verify(b, s->tree, "a tree to be searched");
    s->host = gpu_host_tree(b, s->tree);
}

static void close_stage(gpu_bench* b, stage* s) {
    sap_tree_free(s->tree);
    sap_tree_free(s->host);
    gpu_cloud_free(&s->points);
    gpu_cloud_free(&s->queries);
    gpu_cloud_free(&s->ordered);
    GPU_CUDA(cudaFree(s->ids));
    GPU_CUDA(cudaFree(s->distance2));
    sap_device_trim(b->device);
}

static gpu_row row_of(const stage* s, const char* work, gpu_kind kind, int k, bool ordered, sap_walk walk) {
    gpu_row row = gpu_row_of(work, gpu_kind_names[kind], s->points.count, s->points.dims);
    sap_tree_info info;
    GPU_SAP(sap_tree_describe(s->tree, &info));
    row.queries = s->queries.count;
    row.k = k;
    row.leaf = info.options.leaf_size;
    row.depth = info.depth;
    row.walk = walk_names[walk];
    snprintf(row.order, sizeof row.order, "%s", ordered ? "ordered" : "random");
    return row;
}

// Points and queries read once, answers written once.
static double floor_of(const gpu_bench* b, const stage* s, int k) {
    double coords = 4.0 * s->points.dims;
    double bytes = (double)s->points.count * (coords + 4) + (double)s->queries.count * (coords + 8.0 * k);
    return bytes / b->bytes_a_ms;
}

static double search_row(gpu_bench* b, stage* s, gpu_kind kind, int k, bool ordered, sap_walk walk) {
    gpu_row row = row_of(s, "search", kind, k, ordered, walk);
    const gpu_cloud* queries = ordered ? &s->ordered : &s->queries;
    sap_search search = {};
    search.k = k;
    search.walk = walk;
    search.ordered = ordered;
    sap_status status = sap_nearest(s->tree, gpu_points(queries), &search, s->ids, s->distance2);
    if (status == SAP_ERROR_UNSUPPORTED) return 0; // the log has said so
    GPU_SAP(status);
    // Nothing that an earlier row wrote may pass for an answer of this one.
    size_t answers = (size_t)queries->count * (size_t)k;
    GPU_CUDA(cudaMemsetAsync(s->ids, 0xa5, answers * sizeof(int32_t), b->stream));
    GPU_CUDA(cudaMemsetAsync(s->distance2, 0xa5, answers * sizeof(float), b->stream));
    gpu_times times =
        gpu_measure(b, [&] { GPU_SAP(sap_nearest(s->tree, gpu_points(queries), &search, s->ids, s->distance2)); });
    gpu_check_nearest(b, s->host, queries, k, s->ids, s->distance2, &row);
    row.floor_ms = floor_of(b, s, k);
    gpu_report(b, row, times);
    return times.median;
}

static void whole_row(gpu_bench* b, stage* s, gpu_kind kind, int k) {
    gpu_row row = row_of(s, "whole", kind, k, false, SAP_WALK_AUTO);
    sap_search search = {};
    search.k = k;
    gpu_times times = gpu_measure(b, [&] {
        GPU_SAP(sap_tree_rebuild(s->tree, gpu_points(&s->points)));
        GPU_SAP(sap_nearest(s->tree, gpu_points(&s->queries), &search, s->ids, s->distance2));
    });
    gpu_check_nearest(b, s->host, &s->queries, k, s->ids, s->distance2, &row);
    row.floor_ms = gpu_build_floor(b, row.n, row.dims) + floor_of(b, s, k);
    gpu_report(b, row, times);
}

void gpu_searches(gpu_bench* b) {
    static const int64_t n = 1000000;
    for (gpu_kind kind : {GPU_UNIFORM, GPU_CLUSTERED, GPU_SURFACE}) {
        gpu_row search = gpu_row_of("search", gpu_kind_names[kind], n, 3),
                whole = gpu_row_of("whole", gpu_kind_names[kind], n, 3);
        bool searched = gpu_wanted(b, search.work, n), built = gpu_wanted(b, whole.work, n);
        if (!searched && !built) continue;
        stage s;
        open_stage(b, &s, kind, n, n, 3, true);
        for (int i = 0; i < 3 && searched; i++)
            for (bool ordered : {false, true}) {
                double ms = search_row(b, &s, kind, ks[i], ordered, SAP_WALK_AUTO);
                if (kind == GPU_UNIFORM) b->uniform[i][ordered] = ms;
            }
        for (int i = 0; i < 3 && searched && kind == GPU_UNIFORM; i++)
            for (bool ordered : {true, false})
                for (int walk = SAP_WALK_STACK; walk <= SAP_WALK_PACKET; walk++)
                    search_row(b, &s, kind, ks[i], ordered, (sap_walk)walk);
        for (int i = 0; i < 3 && built; i++) whole_row(b, &s, kind, ks[i]);
        close_stage(b, &s);
    }
}

static void large_rows(gpu_bench* b, int64_t n, int dims) {
    if (!gpu_wanted(b, "search-uniform", n)) return;
    stage s;
    open_stage(b, &s, GPU_UNIFORM, n, 1000000, dims, true);
    for (int k : ks)
        for (bool ordered : {false, true}) search_row(b, &s, GPU_UNIFORM, k, ordered, SAP_WALK_AUTO);
    close_stage(b, &s);
}

void gpu_large(gpu_bench* b) {
    large_rows(b, 10000000, 3);
    large_rows(b, 16777216, 4);
    if (!gpu_wanted(b, "whole-uniform", 10000000)) return;
    stage s;
    open_stage(b, &s, GPU_UNIFORM, 10000000, 10000000, 3, false);
    whole_row(b, &s, GPU_UNIFORM, 16);
    close_stage(b, &s);
}

// ---- Radii: a ball that holds about 30 of a million points

void gpu_radii(gpu_bench* b) {
    static const int64_t n = 1000000;
    static const double radius = 0.019276;
    if (!gpu_wanted(b, "radius-count", n) && !gpu_wanted(b, "radius-collect", n)) return;
    stage s;
    open_stage(b, &s, GPU_UNIFORM, n, n, 3, false);
    int64_t *counts = (int64_t*)gpu_memory((size_t)n * sizeof(int64_t)), hits = 0;
    sap_neighbors* found = NULL;
    gpu_times count =
        gpu_measure(b, [&] { GPU_SAP(sap_radius_count(s.tree, gpu_points(&s.queries), radius, counts)); });
    gpu_times collect = gpu_measure(b, [&] {
        GPU_SAP(sap_radius(s.tree, gpu_points(&s.queries), radius, &found));
        sap_neighbors_free(found);
    });
    GPU_SAP(sap_radius(s.tree, gpu_points(&s.queries), radius, &found));
    GPU_SAP(sap_device_wait(b->device));
    GPU_CUDA(cudaMemcpy(&hits, found->offsets + n, sizeof hits, cudaMemcpyDeviceToHost));
    gpu_check_radius(b, s.host, &s.queries, radius, found, counts);
    for (bool all : {false, true}) {
        gpu_row row = row_of(&s, "radius", GPU_UNIFORM, 0, false, SAP_WALK_AUTO);
        snprintf(row.work, sizeof row.work, "radius-%s", all ? "collect" : "count");
        row.floor_ms = floor_of(b, &s, 1) + (all ? 8.0 * (double)hits / b->bytes_a_ms : 0);
        gpu_report(b, row, all ? collect : count);
    }
    sap_neighbors_free(found);
    GPU_CUDA(cudaFree(counts));
    close_stage(b, &s);
}
