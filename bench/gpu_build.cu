// Builds: of kept trees, first ones, and the memory that they take.
#include "gpu.cuh"

// Least traffic of a balanced build: 16-way partitions (3 times the points' bytes each) until a subtree fits a block's
// shared memory, then one pass that finishes all of it there (2 times).
double gpu_build_floor(const gpu_bench* b, int64_t n, int dims) {
    int levels = 0;
    while ((int64_t)8192 << levels < n) levels++;
    int passes = (levels + 3) / 4;
    return (3 * passes + 2) * (double)n * (4.0 * dims + 4) / b->bytes_a_ms;
}

static void build_row(gpu_bench* b, const char* work, int64_t n, int dims, sap_split split) {
    if (!gpu_wanted(b, work, n)) return;
    gpu_cloud cloud = gpu_cloud_make(b, GPU_UNIFORM, n, dims, 1);
    gpu_row row = gpu_row_of(work, "", n, dims);
    sap_tree_options options = {};
    sap_tree* tree = NULL;
    options.split = split;
    GPU_SAP(sap_tree_build(b->device, gpu_points(&cloud), &options, &tree));
    gpu_times times = gpu_measure(b, [&] { GPU_SAP(sap_tree_rebuild(tree, gpu_points(&cloud))); });
    gpu_verify(b, tree, work);
    row.floor_ms = gpu_build_floor(b, n, dims);
    gpu_report(b, row, times);
    sap_tree_free(tree);
    sap_device_trim(b->device);
    gpu_cloud_free(&cloud);
}

// The same, captured once, as one launch of a graph.
static void graph_row(gpu_bench* b, int64_t n, int dims) {
    if (!gpu_wanted(b, "build-graph", n)) return;
    gpu_cloud cloud = gpu_cloud_make(b, GPU_UNIFORM, n, dims, 1);
    cudaGraph_t graph;
    cudaGraphExec_t launchable;
    sap_tree* tree = NULL;
    GPU_SAP(sap_tree_build(b->device, gpu_points(&cloud), NULL, &tree));
    GPU_SAP(sap_tree_rebuild(tree, gpu_points(&cloud))); // what a capture may not allocate is there after it
    GPU_CUDA(cudaStreamBeginCapture(b->stream, cudaStreamCaptureModeThreadLocal));
    GPU_SAP(sap_tree_rebuild(tree, gpu_points(&cloud)));
    GPU_CUDA(cudaStreamEndCapture(b->stream, &graph));
    GPU_CUDA(cudaGraphInstantiate(&launchable, graph, 0));
    gpu_times times = gpu_measure(b, [&] { GPU_CUDA(cudaGraphLaunch(launchable, b->stream)); });
    gpu_verify(b, tree, "build-graph");
    gpu_row row = gpu_row_of("build-graph", "", n, dims);
    row.floor_ms = gpu_build_floor(b, n, dims);
    gpu_report(b, row, times);
    GPU_CUDA(cudaGraphExecDestroy(launchable));
    GPU_CUDA(cudaGraphDestroy(graph));
    sap_tree_free(tree);
    sap_device_trim(b->device);
    gpu_cloud_free(&cloud);
}

// ---- First builds: a fresh device each time, so that nothing has been allocated

static void refuse(void*, sap_status status, const char* sentence) {
    fprintf(stderr, "gpu: %s: %s\n", sap_status_string(status), sentence);
}

static sap_device* open_device(const gpu_bench* b, const sap_allocator* allocator) {
    sap_device_options options = {};
    options.processor = SAP_CUDA;
    options.stream = (void*)b->stream;
    options.log = refuse;
    if (allocator) options.device_allocator = *allocator;
    sap_device* device = NULL;
    GPU_SAP(sap_device_open(&options, &device));
    return device;
}

static void first_build_row(gpu_bench* b, int64_t n, int dims) {
    if (!gpu_wanted(b, "build-first", n)) return;
    gpu_cloud cloud = gpu_cloud_make(b, GPU_UNIFORM, n, dims, 1);
    sap_device* device = open_device(b, NULL);
    sap_tree* tree = NULL;
    auto build = [&] { GPU_SAP(sap_tree_build(device, gpu_points(&cloud), NULL, &tree)); };
    auto again = [&] {
        GPU_SAP(sap_device_wait(device));
        sap_tree_free(tree);
        sap_device_close(device);
        device = open_device(b, NULL);
    };
    gpu_report(b, gpu_row_of("build-first", "", n, dims), gpu_measure_on_host(b, 1, build, again));
    sap_device_close(device);
    gpu_cloud_free(&cloud);
}

void gpu_builds(gpu_bench* b) {
    static const int64_t sizes[] = {1000000, 10000000, 16777216, 100000000};
    for (int64_t n : sizes) build_row(b, "build", n, 3, SAP_SPLIT_MEDIAN);
    for (int64_t n : {sizes[0], sizes[1]}) graph_row(b, n, 3);
    for (int64_t n : {sizes[0], sizes[1]}) build_row(b, "build-sliding", n, 3, SAP_SPLIT_SLIDING_MIDPOINT);
    for (int64_t n : {sizes[0], sizes[1]}) first_build_row(b, n, 3);
    first_build_row(b, sizes[2], 4);
}

// ---- Peak memory: a device that takes its memory from an allocator that counts

typedef struct counted {
    size_t now, peak;
} counted;

static void* count_up(void* user, size_t bytes, size_t) {
    counted* c = (counted*)user;
    void* memory = NULL;
    if (cudaMalloc(&memory, bytes) != cudaSuccess) {
        (void)cudaGetLastError();
        return NULL;
    }
    c->now += bytes;
    c->peak = std::max(c->peak, c->now);
    return memory;
}

static void count_down(void* user, void* memory, size_t bytes) {
    ((counted*)user)->now -= bytes;
    GPU_CUDA(cudaFree(memory));
}

static void peak_rows(gpu_bench* b, const char* work, int64_t n, int dims, const sap_tree_options* options) {
    if (!gpu_wanted(b, work, n)) return;
    gpu_cloud cloud = gpu_cloud_make(b, GPU_UNIFORM, n, dims, 1);
    counted c = {0, 0};
    sap_allocator allocator = {count_up, count_down, &c};
    sap_device* device = open_device(b, &allocator);
    sap_tree* tree = NULL;
    sap_tree_info info;
    GPU_SAP(sap_tree_build(device, gpu_points(&cloud), options, &tree));
    GPU_SAP(sap_tree_rebuild(tree, gpu_points(&cloud)));
    GPU_SAP(sap_device_wait(device));
    GPU_SAP(sap_tree_describe(tree, &info));
    for (int id = 0; id < 2; id++) { // of the coordinates alone, and with an id a point
        double points = (double)n * (4.0 * dims + 4 * id), peak = (double)c.peak / points;
        gpu_row row = gpu_row_of(work, "", n, dims);
        row.unit = "x";
        row.floor_ms = (double)info.bytes / points; // what is kept
        snprintf(row.order, sizeof row.order, "%s", id ? "coords+id" : "coords");
        gpu_report(b, row, gpu_times{peak, peak, peak});
    }
    sap_tree_free(tree);
    sap_device_close(device);
    if (c.now) {
        fprintf(stderr, "gpu: %s leaves %zu bytes allocated\n", work, c.now);
        b->wrong++;
    }
    gpu_cloud_free(&cloud);
}

void gpu_peaks(gpu_bench* b) {
    sap_tree_options plain = {}, duplicates = {}, sliding = {};
    duplicates.drop_duplicates = true;
    sliding.split = SAP_SPLIT_SLIDING_MIDPOINT;
    peak_rows(b, "peak-build", 1000000, 3, &plain);
    peak_rows(b, "peak-build", 10000000, 3, &plain);
    peak_rows(b, "peak-build", 16777216, 4, &plain);
    peak_rows(b, "peak-duplicates", 10000000, 3, &duplicates);
    peak_rows(b, "peak-sliding", 10000000, 3, &sliding);
}
