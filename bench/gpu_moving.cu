// Frames of figures: a mesh that 60 bones move, whose rays go on once; meshes that Loop subdivision refines anew in each frame,
// one of them displaced along its normals. 1024 x 1024 pixels.
#include "gpu_frames.cuh"

// ---- By bones

enum { BONES = 60, EACH = 4 };

typedef struct figure {
    sap_skin skin; // on the device
    float *turns, *normals;
} figure;

// Bone i turns about the upward axis, by less than a tenth of a circle.
static __global__ void turn_bones(float* turns, float phase) {
    const int i = (int)threadIdx.x;
    if (i >= BONES) return;
    const float angle = 0.1f * sinf(phase + 0.1f * (float)i), c = cosf(angle), s = sinf(angle);
    const float turn[12] = {c, 0, s, 0, 0, 1, 0, 0, -s, 0, c, 0};
    for (int j = 0; j < 12; j++) turns[12 * i + j] = turn[j];
}

static void move_figure(gpu_bench* b, gpu_frame_stage* s) {
    figure* f = (figure*)s->how;
    turn_bones<<<1, 64, 0, b->stream>>>(f->turns, 0.3f * (float)s->moves++);
    GPU_CUDA(cudaGetLastError());
    GPU_SAP(sap_mesh_skin(b->device, &f->skin, (float*)(uintptr_t)s->moved.vertices, f->normals));
}

static void measure_figure(gpu_bench* b) {
    std::vector<float> vertices, weights, normals;
    std::vector<int32_t> triangles, bones;
    gpu_frame_stage s = {};
    figure f = {};
    sap_mesh_file* read = gpu_mesh_read(b, "fairy_forest");
    const sap_mesh mesh = read ? read->mesh : gpu_torus(293, &vertices, &triangles);
    float low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < mesh.vertex_count; i++) {
        low = std::min(low, mesh.vertices[3 * i + 1]);
        high = std::max(high, mesh.vertices[3 * i + 1]);
    }
    for (int64_t i = 0; i < mesh.vertex_count; i++) { // by height
        const float at = (mesh.vertices[3 * i + 1] - low) / (high - low) * (BONES - EACH);
        for (int j = 0; j < EACH; j++) {
            bones.push_back((int32_t)at + j < BONES ? (int32_t)at + j : BONES - 1);
            weights.push_back(1.0f / EACH);
        }
        normals.insert(normals.end(), {0, 1, 0});
    }
    s.name = read ? "fairy" : "torus";
    s.quality = SAP_QUALITY_FAST;
    s.bounces = true;
    s.moved = gpu_mesh_upload(&mesh);
    s.move = move_figure;
    s.how = &f;
    f.turns = (float*)gpu_memory(BONES * 12 * sizeof(float));
    f.normals = (float*)gpu_memory(normals.size() * sizeof(float));
    f.skin.vertices = (float*)gpu_upload(mesh.vertices, normals.size() * sizeof(float));
    f.skin.normals = (float*)gpu_upload(normals.data(), normals.size() * sizeof(float));
    f.skin.count = mesh.vertex_count;
    f.skin.bones = (int32_t*)gpu_upload(bones.data(), bones.size() * sizeof(int32_t));
    f.skin.weights = (float*)gpu_upload(weights.data(), weights.size() * sizeof(float));
    f.skin.each = EACH;
    f.skin.matrices = f.turns;
    f.skin.matrix_count = BONES;
    gpu_frame_open(&s);
    gpu_frame_measure(b, &s, "frame-skinned", 5);
    gpu_frame_close(b, &s);
    gpu_mesh_free(&s.moved);
    for (const void* array : {(const void*)f.turns, (const void*)f.normals, (const void*)f.skin.vertices,
                              (const void*)f.skin.normals, (const void*)f.skin.bones, (const void*)f.skin.weights})
        GPU_CUDA(cudaFree((void*)(uintptr_t)array));
    sap_mesh_file_free(read);
}

// ---- By subdivision

typedef struct refined {
    const sap_subdivision* subdivision;
    const float* rest; // on the device, as is all below
    float *coarse, *normals;
    float height; // of the displacement; 0: none
} refined;

// Along the normals, by a pattern that follows places.
static __global__ void displace(float* vertices, const float* normals, int64_t count, float height) {
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float* v = vertices + 3 * i;
    const float by = height * sinf(20 * v[0]) * sinf(20 * v[1]) * sinf(20 * v[2]);
    for (int a = 0; a < 3; a++) v[a] += by * normals[3 * i + a];
}

static void move_refined(gpu_bench* b, gpu_frame_stage* s) {
    enum { THREADS = 128 };
    refined* r = (refined*)s->how;
    float* vertices = (float*)(uintptr_t)s->moved.vertices;
    gpu_frame_twist(b, s, r->rest, r->coarse, r->subdivision->coarse_count);
    GPU_SAP(sap_mesh_subdivide(r->subdivision, r->coarse, vertices, r->normals));
    if (r->height == 0) return;
    displace<<<(unsigned)((s->moved.vertex_count + THREADS - 1) / THREADS), THREADS, 0, b->stream>>>(
        vertices, r->normals, s->moved.vertex_count, r->height);
    GPU_CUDA(cudaGetLastError());
}

// A torus of 2 * side * side triangles, refined by so many levels.
static void measure_refined(gpu_bench* b, const char* work, int side, int levels, float height, double target) {
    std::vector<float> vertices;
    std::vector<int32_t> triangles;
    gpu_frame_stage s = {};
    refined r = {};
    sap_subdivision* subdivision = NULL;
    const sap_mesh mesh = gpu_torus(side, &vertices, &triangles);
    GPU_SAP(sap_subdivision_create(b->device, mesh.triangles, mesh.triangle_count, mesh.vertex_count, levels, NULL,
                                   &subdivision));
    const size_t numbers = 3 * (size_t)subdivision->vertex_count;
    r.subdivision = subdivision;
    r.rest = (float*)gpu_upload(mesh.vertices, 3 * (size_t)mesh.vertex_count * sizeof(float));
    r.coarse = (float*)gpu_memory(3 * (size_t)mesh.vertex_count * sizeof(float));
    r.normals = (float*)gpu_memory(numbers * sizeof(float));
    r.height = height;
    s.name = "torus";
    s.quality = SAP_QUALITY_FAST;
    s.moved = sap_mesh{(float*)gpu_memory(numbers * sizeof(float)), subdivision->vertex_count, subdivision->triangles,
                       subdivision->triangle_count};
    s.wave = 1;
    s.move = move_refined;
    s.how = &r;
    gpu_frame_open(&s);
    gpu_frame_measure(b, &s, work, target);
    gpu_frame_close(b, &s);
    for (const void* array :
         {(const void*)r.rest, (const void*)r.coarse, (const void*)r.normals, (const void*)s.moved.vertices})
        GPU_CUDA(cudaFree((void*)(uintptr_t)array));
    sap_subdivision_free(subdivision);
}

void gpu_moving(gpu_bench* b) {
    if (gpu_wanted(b, "frame-skinned", 0)) measure_figure(b);
    if (gpu_wanted(b, "frame-displaced", 0)) measure_refined(b, "frame-displaced", 38, 2, 0.02f, 2);
    if (gpu_wanted(b, "frame-subdivided", 0)) measure_refined(b, "frame-subdivided", 71, 3, 0, 5);
}
