// Loop subdivision: a torus of 10,000 triangles whose places are bumped, refined to 640,000 with normals.
#include "gpu.cuh"

enum { SUBDIVIDE_AROUND = 100, SUBDIVIDE_ACROSS = 50, SUBDIVIDE_LEVELS = 3 };

typedef struct subdivide_mesh {
    std::vector<float> vertices;
    std::vector<int32_t> triangles;
} subdivide_mesh;

static subdivide_mesh subdivide_torus(void) {
    subdivide_mesh m;
    const double turn = 2 * 3.14159265358979323846;
    for (int u = 0; u < SUBDIVIDE_AROUND; u++)
        for (int v = 0; v < SUBDIVIDE_ACROSS; v++) {
            const double a = turn * u / SUBDIVIDE_AROUND, b = turn * v / SUBDIVIDE_ACROSS,
                         r = 3 + cos(b) * (1 + 0.1 * ((u * 7 + v * 3) % 5));
            m.vertices.insert(m.vertices.end(), {(float)(r * cos(a)), (float)(r * sin(a)), (float)sin(b)});
            const int32_t p = u * SUBDIVIDE_ACROSS + v, q = (u + 1) % SUBDIVIDE_AROUND * SUBDIVIDE_ACROSS + v,
                          up = (v + 1) % SUBDIVIDE_ACROSS - v;
            m.triangles.insert(m.triangles.end(), {p, q, q + up, p, q + up, p + up});
        }
    return m;
}

void gpu_subdivide(gpu_bench* b) {
    static const char* const works[] = {"subdivide", "subdivide-limit"};
    const subdivide_mesh m = subdivide_torus();
    const int64_t given = (int64_t)m.vertices.size() / 3, triangles = (int64_t)m.triangles.size() / 3,
                  refined = triangles << 2 * SUBDIVIDE_LEVELS, numbers = 3 * refined / 2; // a torus has half as many
    if (!gpu_wanted(b, "subdivide", refined)) return;
    float *vertices = (float*)gpu_memory(3 * given * sizeof(float)), *to = (float*)gpu_memory(numbers * sizeof(float)),
          *normals = (float*)gpu_memory(numbers * sizeof(float));
    GPU_CUDA(cudaMemcpy(vertices, m.vertices.data(), 3 * given * sizeof(float), cudaMemcpyHostToDevice));
    std::vector<float> expected(numbers), expected_normals(numbers);
    for (int limit = 0; limit < 2; limit++) {
        sap_subdivision_options options = {};
        options.limit = limit;
        sap_subdivision *here = NULL, *there = NULL;
        GPU_SAP(
            sap_subdivision_create(b->host, m.triangles.data(), triangles, given, SUBDIVIDE_LEVELS, &options, &here));
        GPU_SAP(sap_subdivision_create(b->device, m.triangles.data(), triangles, given, SUBDIVIDE_LEVELS, &options,
                                       &there));
        gpu_row row = gpu_row_of(works[limit], "", refined, 3);
        row.target = 5;
        gpu_report(b, row, gpu_measure(b, [&] { GPU_SAP(sap_mesh_subdivide(there, vertices, to, normals)); }));
        GPU_SAP(sap_mesh_subdivide(here, m.vertices.data(), expected.data(), expected_normals.data()));
        gpu_check_same(b, gpu_sampled(to, numbers), expected, works[limit]);
        gpu_check_same(b, gpu_sampled(normals, numbers), expected_normals, works[limit]);
        sap_subdivision_free(here);
        sap_subdivision_free(there);
    }
    for (float* array : {vertices, to, normals}) GPU_CUDA(cudaFree(array));
}
