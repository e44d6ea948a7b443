// Searches that were told something, and boxes, beside the plain search of as many hits: at most 1.3 times as long.
#include "gpu.cuh"

#include <vector>

enum { TOLD_K = 8 };
static const int64_t told_points = 1000000;
static const double told_radius = 0.019276, told_side = 0.031072; // a ball and a box that hold about 30 points
static const double most_times = 1.3;

typedef struct told_stage {
    gpu_cloud points, queries, uppers;            // boxes: from a query to its upper corner
    sap_tree *tree, *host, *around, *around_host; // around: with a period of 1 on each axis
    int32_t* ids;
    float* distance2;
    int64_t* counts;
    uint8_t* keep; // all points
} told_stage;

static void open_told(gpu_bench* b, told_stage* s) {
    s->points = gpu_cloud_make(b, GPU_UNIFORM, told_points, 3, 1);
    s->queries = gpu_cloud_make(b, GPU_UNIFORM, told_points, 3, 2);
    s->uppers = gpu_cloud_make(b, GPU_UNIFORM, told_points, 3, 2);
    std::vector<float> corners = gpu_sampled(s->uppers.coords, 3 * told_points);
    for (float& x : corners) x += (float)told_side;
    GPU_CUDA(cudaMemcpy(s->uppers.coords, corners.data(), corners.size() * sizeof(float), cudaMemcpyHostToDevice));
    s->ids = (int32_t*)gpu_memory(told_points * TOLD_K * sizeof(int32_t));
    s->distance2 = (float*)gpu_memory(told_points * TOLD_K * sizeof(float));
    s->counts = (int64_t*)gpu_memory(told_points * sizeof(int64_t));
    const std::vector<uint8_t> all((size_t)told_points, 1);
    s->keep = (uint8_t*)gpu_upload(all.data(), all.size());
    GPU_SAP(sap_tree_build(b->device, gpu_points(&s->points), NULL, &s->tree));
    GPU_SAP(sap_device_wait(b->device));
    s->host = gpu_host_tree(b, s->tree);
    sap_tree_options around = {};
    for (int a = 0; a < 3; a++) around.period[a] = 1;
    GPU_SAP(sap_tree_build(b->device, gpu_points(&s->points), &around, &s->around));
    GPU_SAP(sap_device_wait(b->device));
    s->around_host = gpu_host_tree(b, s->around);
}

static void close_told(gpu_bench* b, told_stage* s) {
    for (sap_tree* tree : {s->tree, s->host, s->around, s->around_host}) sap_tree_free(tree);
    for (gpu_cloud* cloud : {&s->points, &s->queries, &s->uppers}) gpu_cloud_free(cloud);
    for (void* array : {(void*)s->ids, (void*)s->distance2, (void*)s->counts, (void*)s->keep})
        GPU_CUDA(cudaFree(array));
    sap_device_trim(b->device);
}

// The CPU's answers to the first queries.
static void check_told(gpu_bench* b, const told_stage* s, const sap_tree* host, const sap_search* search) {
    const int64_t count = GPU_SAMPLED;
    const std::vector<float> coords = gpu_sampled(s->queries.coords, 3 * count);
    std::vector<int32_t> ids((size_t)count * TOLD_K);
    sap_search told = *search;
    const std::vector<uint8_t> all((size_t)told_points, 1);
    if (told.keep) told.keep = all.data();
    GPU_SAP(sap_nearest(host, sap_points{coords.data(), count, 3, 0}, &told, ids.data(), NULL));
    gpu_check_same(b, gpu_sampled(s->ids, count * TOLD_K), ids, "neighbours by what a search was told");
}

static void report_told(gpu_bench* b, const char* work, int k, double plain, gpu_times times) {
    gpu_row row = gpu_row_of(work, "", told_points, 3);
    row.k = k;
    row.queries = told_points;
    if (plain > 0) row.target = most_times * plain;
    gpu_report(b, row, times);
}

static void told_nearest(gpu_bench* b, told_stage* s) {
    static const struct {
        const char* work;
        sap_search search;
    } ways[] = {{"told-nothing", {TOLD_K}},
                {"told-mask", {TOLD_K}},
                {"told-periods", {TOLD_K}},
                {"told-l1", {.k = TOLD_K, .metric = SAP_METRIC_L1}},
                {"told-linf", {.k = TOLD_K, .metric = SAP_METRIC_LINF}},
                {"told-l2.5", {.k = TOLD_K, .metric = SAP_METRIC_LP, .p = 2.5}},
                {"told-eps0.5", {.k = TOLD_K, .eps = 0.5}}};
    double plain = 0;
    for (const auto& way : ways) {
        sap_search search = way.search;
        if (!strcmp(way.work, "told-mask")) search.keep = s->keep;
        const bool around = !strcmp(way.work, "told-periods");
        const sap_tree* tree = around ? s->around : s->tree;
        const gpu_times times =
            gpu_measure(b, [&] { GPU_SAP(sap_nearest(tree, gpu_points(&s->queries), &search, s->ids, s->distance2)); });
        check_told(b, s, around ? s->around_host : s->host, &search);
        report_told(b, way.work, TOLD_K, search.eps > 0 ? 0 : plain, times);
        if (plain == 0) plain = times.median;
    }
}

static gpu_times measure_radius(gpu_bench* b, told_stage* s, const sap_tree* tree, const sap_search* search,
                                bool collect) {
    return gpu_measure(b, [&] {
        sap_neighbors* found = NULL;
        if (collect)
            GPU_SAP(sap_radius_search(tree, gpu_points(&s->queries), search, &found));
        else
            GPU_SAP(sap_radius_search_count(tree, gpu_points(&s->queries), search, s->counts));
        sap_neighbors_free(found);
    });
}

static gpu_times measure_boxes(gpu_bench* b, told_stage* s, const sap_tree* tree, bool collect) {
    return gpu_measure(b, [&] {
        sap_neighbors* found = NULL;
        if (collect)
            GPU_SAP(sap_box_search(tree, gpu_points(&s->queries), gpu_points(&s->uppers), &found));
        else
            GPU_SAP(sap_box_count(tree, gpu_points(&s->queries), gpu_points(&s->uppers), s->counts));
        sap_neighbors_free(found);
    });
}

static void told_radii(gpu_bench* b, told_stage* s) {
    sap_search plain = {}, masked = {};
    plain.radius = masked.radius = told_radius;
    masked.keep = s->keep;
    for (bool collect : {false, true}) {
        const gpu_times times = measure_radius(b, s, s->tree, &plain, collect);
        report_told(b, collect ? "told-collect" : "told-count", 0, 0, times);
        report_told(b, collect ? "told-collect-mask" : "told-count-mask", 0, times.median,
                    measure_radius(b, s, s->tree, &masked, collect));
        report_told(b, collect ? "told-collect-periods" : "told-count-periods", 0, times.median,
                    measure_radius(b, s, s->around, &plain, collect));
        report_told(b, collect ? "box-search" : "box-count", 0, times.median, measure_boxes(b, s, s->tree, collect));
        report_told(b, collect ? "box-search-periods" : "box-count-periods", 0, times.median,
                    measure_boxes(b, s, s->around, collect));
    }
}

void gpu_told(gpu_bench* b) {
    if (!gpu_wanted(b, "told", told_points) && !gpu_wanted(b, "box", told_points)) return;
    told_stage s = {};
    open_told(b, &s);
    told_nearest(b, &s);
    told_radii(b, &s);
    close_told(b, &s);
}
