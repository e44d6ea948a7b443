// The published table (KdTreeGPU, 16,777,216 points of 4-D): its phases, and the whole of it, here.
#include "gpu.cuh"

typedef struct phases {
    double upload, build, verify, back, total; // of data that lie in pageable memory
} phases;

static const int64_t count = 16777216;
enum { DIMS = 4 };

static gpu_row row_of(const char* phase, const char* order) {
    gpu_row row = gpu_row_of("table", phase, count, DIMS);
    snprintf(row.order, sizeof row.order, "%s", order);
    return row;
}

static void print_table(const gpu_bench* b, const phases* p) {
    gpu_row total = row_of("total", "pageable"), build = row_of("build", "duplicates"), verify = row_of("verify", ""),
            upload = row_of("upload", "pageable");
    printf("\n%lld points of %d-D, pageable upload to verified tree, ms%18s %10s %10s\n", (long long)count, (int)DIMS,
           "here", "KdTreeGPU", "published");
    const struct {
        const char* name;
        double ours, theirs, published;
    } lines[] = {
        {"upload", p->upload, gpu_rival_ms(b, &upload, "KdTreeGPU"), 0},
        {"build with removal of duplicates", p->build, gpu_rival_ms(b, &build, "KdTreeGPU"), 0},
        {"verification on the GPU", p->verify, gpu_rival_ms(b, &verify, "KdTreeGPU"), 0},
        {"all of it", p->total, gpu_rival_ms(b, &total, "KdTreeGPU"), gpu_rival_ms(b, &total, "KdTreeGPU published")},
        {"copy of the tree to the host", p->back, 0, 0}};
    for (const auto& line : lines) {
        printf("  %-62s %8.2f", line.name, line.ours);
        if (line.theirs > 0) printf(" %10.1f", line.theirs);
        if (line.published > 0) printf(" %10.1f", line.published);
        printf("\n");
    }
    printf("\n");
}

static gpu_times host_row(gpu_bench* b, const char* phase, const float* from, gpu_cloud* cloud, sap_tree* tree,
                          const char* order) {
    size_t bytes = (size_t)count * DIMS * sizeof(float);
    sap_points points = {from, count, DIMS, 0};
    gpu_times times = gpu_measure_on_host(
        b, GPU_WARM_UPS,
        [&] {
            if (!tree) {
                GPU_CUDA(cudaMemcpyAsync(cloud->coords, from, bytes, cudaMemcpyHostToDevice, b->stream));
                return;
            }
            GPU_SAP(sap_tree_rebuild(tree, points));
            GPU_SAP(sap_tree_verify(tree));
        },
        [] {});
    gpu_report(b, row_of(phase, order), times);
    return times;
}

// Both kinds of host memory: what an upload takes, and an upload, a build and a verification together.
static void host_rows(gpu_bench* b, gpu_cloud* cloud, sap_tree* tree, phases* p) {
    float *pageable = gpu_cloud_download(cloud), *pinned = NULL;
    size_t bytes = (size_t)count * DIMS * sizeof(float);
    GPU_CUDA(cudaMallocHost((void**)&pinned, bytes));
    memcpy(pinned, pageable, bytes);
    p->upload = host_row(b, "upload", pageable, cloud, NULL, "pageable").median;
    host_row(b, "upload", pinned, cloud, NULL, "pinned");
    p->total = host_row(b, "total", pageable, cloud, tree, "pageable").median;
    host_row(b, "total", pinned, cloud, tree, "pinned");
    GPU_CUDA(cudaFreeHost(pinned));
    free(pageable);
}

void gpu_published(gpu_bench* b) {
    if (!gpu_wanted(b, "table", count)) return;
    gpu_cloud cloud = gpu_cloud_make(b, GPU_UNIFORM, count, DIMS, 1);
    sap_tree_options options = {};
    sap_tree *tree = NULL, *copy = NULL;
    phases p;
    auto rebuild = [&] { GPU_SAP(sap_tree_rebuild(tree, gpu_points(&cloud))); };
    auto verify = [&] { GPU_SAP(sap_tree_verify(tree)); };
    gpu_row row = row_of("build", "");
    row.floor_ms = gpu_build_floor(b, count, DIMS);
    GPU_SAP(sap_tree_build(b->device, gpu_points(&cloud), &options, &tree));
    gpu_report(b, row, gpu_measure(b, rebuild));
    gpu_verify(b, tree, "table-build");
    sap_tree_free(tree);

    options.drop_duplicates = true;
    GPU_SAP(sap_tree_build(b->device, gpu_points(&cloud), &options, &tree));
    snprintf(row.order, sizeof row.order, "duplicates");
    gpu_times times = gpu_measure(b, rebuild);
    p.build = times.median;
    gpu_report(b, row, times);
    gpu_times verified = gpu_measure(b, verify);
    p.verify = verified.median;
    snprintf(row.order, sizeof row.order, "verified");
    gpu_report(b, row, gpu_measure(b, [&] {
                   rebuild();
                   verify();
               }));
    gpu_report(b, row_of("verify", ""), verified);
    times = gpu_measure_on_host(
        b, 1, [&] { copy = gpu_host_tree(b, tree); }, [&] { sap_tree_free(copy); });
    p.back = times.median;
    gpu_report(b, row_of("copy-back", ""), times);
    host_rows(b, &cloud, tree, &p);
    print_table(b, &p);
    sap_tree_free(tree);
    sap_device_trim(b->device);
    gpu_cloud_free(&cloud);
}
