// Trees over triangles, from a mesh on the device: built anew into a tree's own memory, and for the first time. Every
// tree is compared with the CPU's, byte for byte, as it would be saved.
#include "gpu.cuh"
#include <unistd.h>

typedef struct mesh_stage {
    const char* name;
    sap_quality quality;
    sap_mesh mesh, there; // on the host, on the device
} mesh_stage;

static gpu_row row_of(const mesh_stage* s, const char* work) {
    gpu_row row = gpu_row_of(work, s->name, s->mesh.triangle_count, 3);
    snprintf(row.order, sizeof row.order, "%s", s->quality == SAP_QUALITY_FAST ? "fast" : "high");
    return row;
}

static sap_mesh_tree* build(const mesh_stage* s, sap_device* device, const sap_mesh* mesh) {
    sap_mesh_tree_options options = {};
    sap_mesh_tree* tree = NULL;
    options.quality = s->quality;
    GPU_SAP(sap_mesh_tree_build(device, *mesh, &options, &tree));
    return tree;
}

// What a tree is as a file.
static std::vector<char> saved(const sap_mesh_tree* tree) {
    char path[] = P_tmpdir "/sapwood-bench-XXXXXX";
    const int opened = mkstemp(path);
    if (opened < 0) return {};
    close(opened);
    GPU_SAP(sap_mesh_tree_save(tree, path));
    std::vector<char> bytes = gpu_read_bytes(path);
    (void)remove(path);
    return bytes;
}

static void compare(gpu_bench* b, const sap_mesh_tree* tree, const sap_mesh_tree* host, const char* work) {
    const std::vector<char> got = saved(tree), expected = saved(host);
    gpu_compared(b, 1, got.empty() || got != expected, work);
}

// The CPU with so many threads, 0: all; from the mesh on the host.
static void on_cpu(gpu_bench* b, const mesh_stage* s, int threads, const char* work) {
    sap_device_options options = {};
    sap_device* device = NULL;
    options.processor = SAP_CPU;
    options.threads = threads;
    GPU_SAP(sap_device_open(&options, &device));
    sap_mesh_tree* tree = build(s, device, &s->mesh);
    gpu_report(b, row_of(s, work),
               gpu_measure_on_host(
                   b, 1, [&] { GPU_SAP(sap_mesh_tree_rebuild(tree, s->mesh)); }, [] {}));
    sap_mesh_tree_free(tree);
    sap_device_close(device);
}

// What any build must move: the mesh read once, the tree and its form for rays written once.
static double floor_of(const gpu_bench* b, const mesh_stage* s, const sap_mesh_tree* host) {
    sap_mesh_tree_info info;
    GPU_SAP(sap_mesh_tree_describe(host, &info));
    const double read = 12.0 * (double)(s->mesh.vertex_count + s->mesh.triangle_count);
    return (read + (double)info.bytes + 16.0 * (double)info.nodes + 48.0 * (double)info.references) / b->bytes_a_ms;
}

static void rows_of(gpu_bench* b, const mesh_stage* s) {
    sap_mesh_tree *tree = build(s, b->device, &s->there), *host = build(s, b->host, &s->mesh), *again = NULL;
    const gpu_times times = gpu_measure(b, [&] { GPU_SAP(sap_mesh_tree_rebuild(tree, s->there)); });
    compare(b, tree, host, "mesh-rebuild");
    gpu_row row = row_of(s, "mesh-rebuild");
    row.floor_ms = floor_of(b, s, host);
    gpu_report(b, row, times);
    gpu_report(
        b, row_of(s, "mesh-build"),
        gpu_measure_on_host(
            b, GPU_WARM_UPS, [&] { again = build(s, b->device, &s->there); }, [&] { sap_mesh_tree_free(again); }));
    if (b->cpu) {
        on_cpu(b, s, 1, "mesh-cpu-1");
        on_cpu(b, s, 0, "mesh-cpu-all");
    }
    sap_mesh_tree_free(tree);
    sap_mesh_tree_free(host);
}

void gpu_meshes(gpu_bench* b) {
    static const char* const meshes[][2] = {
        {"bunny", "bunny"},           {"sponza_dabrovic", "sponza"},  {"fairy_forest", "fairy"},
        {"turbine_blade", "turbine"}, {"ct_head_surface", "ct head"}, {"dragon", "dragon"}};
    if (!gpu_wanted(b, "mesh-rebuild", 0) && !gpu_wanted(b, "mesh-build", 0)) return;
    for (const auto& names : meshes) {
        sap_mesh_file* file = gpu_mesh_read(b, names[0]);
        if (!file) continue;
        mesh_stage s = {names[1], SAP_QUALITY_FAST, file->mesh, gpu_mesh_upload(&file->mesh)};
        for (sap_quality quality : {SAP_QUALITY_FAST, SAP_QUALITY_HIGH}) {
            s.quality = quality;
            rows_of(b, &s);
        }
        gpu_mesh_free(&s.there);
        sap_mesh_file_free(file);
        sap_device_trim(b->device);
    }
}
