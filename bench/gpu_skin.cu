// Meshes that follow bones: vertices of random places, each with four of 60 bones that turn.
#include "gpu.cuh"

enum { SKIN_VERTICES = 172974, SKIN_BONES = 60, SKIN_EACH = 4 };

typedef struct skin_arrays {
    std::vector<float> vertices, normals, weights, matrices;
    std::vector<int32_t> bones;
} skin_arrays;

static void skin_fill(skin_arrays* a) {
    uint32_t state = 1;
    const auto next = [&] { return (float)((state = state * 1664525u + 1013904223u) >> 8) * 0x1p-24f; };
    for (int i = 0; i < 3 * SKIN_VERTICES; i++) a->vertices.push_back(next()), a->normals.push_back(i % 3 == 0);
    for (int i = 0; i < SKIN_EACH * SKIN_VERTICES; i++) {
        // Vertices that stand side by side follow the same bones, as in meshes.
        a->bones.push_back((i / SKIN_EACH / 512 + i % SKIN_EACH) % SKIN_BONES);
        a->weights.push_back(1.0f / SKIN_EACH);
    }
    for (int bone = 0; bone < SKIN_BONES; bone++) {
        const float c = cosf(0.1f * (float)bone), s = sinf(0.1f * (float)bone), height = 0.01f * (float)bone;
        const float matrix[12] = {c, -s, 0, 0, s, c, 0, 0, 0, 0, 1, height};
        a->matrices.insert(a->matrices.end(), matrix, matrix + 12);
    }
}

template <typename type> static const type* skin_upload(const std::vector<type>& from) {
    type* to = (type*)gpu_memory(from.size() * sizeof(type));
    GPU_CUDA(cudaMemcpy(to, from.data(), from.size() * sizeof(type), cudaMemcpyHostToDevice));
    return to;
}

void gpu_skin(gpu_bench* b) {
    static const char* const works[] = {"skin-matrices", "skin-dual-quaternions"};
    const int64_t numbers = 3 * SKIN_VERTICES;
    skin_arrays a;
    if (!gpu_wanted(b, "skin", SKIN_VERTICES)) return;
    skin_fill(&a);
    sap_skin here = {};
    here.vertices = a.vertices.data();
    here.normals = a.normals.data();
    here.count = SKIN_VERTICES;
    here.bones = a.bones.data();
    here.weights = a.weights.data();
    here.each = SKIN_EACH;
    here.matrices = a.matrices.data();
    here.matrix_count = SKIN_BONES;
    sap_skin there = here;
    there.vertices = skin_upload(a.vertices);
    there.normals = skin_upload(a.normals);
    there.bones = skin_upload(a.bones);
    there.weights = skin_upload(a.weights);
    there.matrices = skin_upload(a.matrices);
    float *moved = (float*)gpu_memory(numbers * sizeof(float)), *turned = (float*)gpu_memory(numbers * sizeof(float));
    std::vector<float> expected(numbers), expected_turned(numbers);
    for (int blend = SAP_SKIN_LINEAR; blend <= SAP_SKIN_DUAL_QUATERNIONS; blend++) {
        here.blend = there.blend = (sap_skin_blend)blend;
        gpu_row row = gpu_row_of(works[blend], "", SKIN_VERTICES, 3);
        row.target = 0.03;
        gpu_report(b, row, gpu_measure(b, [&] { GPU_SAP(sap_mesh_skin(b->device, &there, moved, turned)); }));
        GPU_SAP(sap_mesh_skin(b->host, &here, expected.data(), expected_turned.data()));
        gpu_check_same(b, gpu_sampled(moved, numbers), expected, works[blend]);
        gpu_check_same(b, gpu_sampled(turned, numbers), expected_turned, works[blend]);
    }
    for (const void* array :
         {(const void*)there.vertices, (const void*)there.normals, (const void*)there.bones, (const void*)there.weights,
          (const void*)there.matrices, (const void*)moved, (const void*)turned})
        GPU_CUDA(cudaFree((void*)(uintptr_t)array));
}
