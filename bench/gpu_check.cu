// The CPU's answers beside the GPU's: on the same tree, to be equal with ==.
#include "gpu.cuh"

#include <vector>

void gpu_compared(gpu_bench* b, int64_t count, int64_t wrong, const char* what) {
    b->checked += count;
    b->wrong += wrong;
    if (wrong) fprintf(stderr, "gpu: %s: %lld of %lld answers are wrong\n", what, (long long)wrong, (long long)count);
}

sap_tree* gpu_host_tree(gpu_bench* b, const sap_tree* tree) {
    sap_tree* copy = NULL;
    GPU_SAP(sap_tree_copy(tree, b->host, &copy));
    return copy;
}

void gpu_verify(gpu_bench* b, sap_tree* tree, const char* what) {
    gpu_compared(b, 1, sap_tree_verify(tree) != SAP_OK, what); // the log says what is wrong
}

void gpu_check_nearest(gpu_bench* b, const sap_tree* host, const gpu_cloud* queries, int k, const int32_t* ids,
                       const float* distance2, const gpu_row* row) {
    int64_t count = std::min<int64_t>(queries->count, GPU_SAMPLED), step = queries->count / count, wrong = 0;
    const size_t width = (size_t)k, answers = (size_t)count * width;
    const std::vector<float> coords = gpu_sampled(queries->coords, count, step, (size_t)queries->dims),
                             far = gpu_sampled(distance2, count, step, width);
    const std::vector<int32_t> got = gpu_sampled(ids, count, step, width);
    std::vector<float> expected_far(answers);
    std::vector<int32_t> expected(answers);
    sap_search search = {};
    search.k = k;
    GPU_SAP(sap_nearest(host, sap_points{coords.data(), count, queries->dims, 0}, &search, expected.data(),
                        expected_far.data()));
    for (size_t i = 0; i < answers; i++) wrong += got[i] != expected[i] || far[i] != expected_far[i];
    char what[96];
    snprintf(what, sizeof what, "%s, n %lld, k %d, %s, walk %s, leaf %d", row->work, (long long)row->n, k, row->order,
             row->walk, row->leaf);
    gpu_compared(b, (int64_t)answers, wrong, what);
}

void gpu_check_radius(gpu_bench* b, const sap_tree* host, const gpu_cloud* queries, double radius,
                      const sap_neighbors* found, const int64_t* counts) {
    int64_t count = std::min<int64_t>(queries->count, GPU_SAMPLED), wrong = 0;
    const std::vector<float> coords = gpu_sampled(queries->coords, count, 1, (size_t)queries->dims);
    const std::vector<int64_t> got = gpu_sampled(counts, count), offsets = gpu_sampled(found->offsets, count + 1);
    sap_neighbors* expected = NULL;
    GPU_SAP(sap_radius(host, sap_points{coords.data(), count, queries->dims, 0}, radius, &expected));
    for (int64_t i = 0; i < count; i++)
        wrong += got[(size_t)i] != expected->offsets[i + 1] - expected->offsets[i] ||
                 offsets[(size_t)i + 1] != expected->offsets[i + 1];
    gpu_compared(b, 2 * count, wrong, "radius, counts");
    if (!wrong) {
        int64_t hits = expected->offsets[count];
        const std::vector<int32_t> ids = gpu_sampled(found->ids, hits);
        const std::vector<float> far = gpu_sampled(found->distance2, hits);
        for (int64_t i = 0; i < hits; i++)
            wrong += ids[(size_t)i] != expected->ids[i] || far[(size_t)i] != expected->distance2[i];
        gpu_compared(b, hits, wrong, "radius, neighbours");
    }
    sap_neighbors_free(expected);
}

void gpu_check_bytes(gpu_bench* b, int64_t count, size_t bytes, const void* got, const void* expected,
                     const char* what) {
    int64_t wrong = 0;
    for (int64_t i = 0; i < count; i++)
        wrong += memcmp((const char*)got + (size_t)i * bytes, (const char*)expected + (size_t)i * bytes, bytes) != 0;
    gpu_compared(b, count, wrong, what);
}

void gpu_check_rays(gpu_bench* b, const sap_mesh_tree* tree, int64_t count, const sap_ray* rays, const sap_hit* hits,
                    const sap_ray* shadows, const uint8_t* dark) {
    sap_mesh_tree* host = NULL;
    const std::vector<sap_ray> asked = gpu_sampled(rays, count), shadowed = gpu_sampled(shadows, count);
    std::vector<sap_hit> expected((size_t)count);
    std::vector<uint8_t> expected_dark((size_t)count);
    GPU_SAP(sap_mesh_tree_copy(tree, b->host, &host));
    GPU_SAP(sap_mesh_tree_verify(host));
    GPU_SAP(sap_trace(host, asked.data(), count, expected.data()));
    GPU_SAP(sap_occluded(host, shadowed.data(), count, expected_dark.data()));
    gpu_check_same(b, gpu_sampled(hits, count), expected, "first hits");
    gpu_check_same(b, gpu_sampled(dark, count), expected_dark, "shadows");
    sap_mesh_tree_free(host);
}
