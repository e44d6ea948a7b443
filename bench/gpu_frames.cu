// Frames of a mesh that moves: its vertices are twisted on the device, a tree is built over them, one ray goes through
// each pixel and one from what it hits to a light. And whole pictures by sap_render.
#include "gpu_frames.cuh"

#include <vector>

enum { SIDE = 1024, RAYS = SIDE * SIDE, THREADS = 128, TILE_WIDTH = 8, TILE_HEIGHT = 4, TILE_PIXELS = 32, SAMPLES = 4 };

typedef gpu_frame_view frame_view;
typedef gpu_frame_stage frame_stage;

// ---- Kernels

static __device__ int64_t thread_number() { return (int64_t)blockIdx.x * blockDim.x + threadIdx.x; }

// A twist around the upward axis through the origin.
static __global__ void move_vertices(const float* rest, float* moved, int64_t count, float phase, float per_unit) {
    const int64_t i = thread_number();
    if (i >= count) return;
    const float* v = rest + 3 * i;
    const float turn = 0.05f * sinf(phase + v[1] * per_unit), cosine = cosf(turn), sine = sinf(turn);
    moved[3 * i] = v[0] * cosine - v[2] * sine;
    moved[3 * i + 1] = v[1];
    moved[3 * i + 2] = v[0] * sine + v[2] * cosine;
}

// Rays come in tiles of as many pixels as a warp has threads.
static __device__ void pixel_of(int64_t i, int* x, int* y) {
    const int tile = (int)(i / TILE_PIXELS), in_tile = (int)(i % TILE_PIXELS), row = SIDE / TILE_WIDTH;
    *x = tile % row * TILE_WIDTH + in_tile % TILE_WIDTH;
    *y = tile / row * TILE_HEIGHT + in_tile / TILE_WIDTH;
}

static __global__ void send_rays(frame_view view, sap_ray* rays) {
    const int64_t i = thread_number();
    if (i >= RAYS) return;
    int x, y;
    pixel_of(i, &x, &y);
    const float across = 2 * ((float)x + 0.5f) / SIDE - 1, above = 1 - 2 * ((float)y + 0.5f) / SIDE;
    const float3 direction = gpu_moved(gpu_moved(view.forward, across, view.right), above, view.up);
    rays[i] = gpu_ray_of(view.eye, direction, INFINITY);
}

// Towards where a ray in this direction comes from.
static __device__ float3 facing_normal(const sap_mesh& mesh, int32_t triangle, float3 direction) {
    const float3 normal = gpu_normal_of(mesh, triangle);
    return gpu_dot(normal, direction) > 0 ? gpu_moved(make_float3(0, 0, 0), -1, normal) : normal;
}

static __global__ void send_shadows(frame_view view, sap_mesh mesh, const sap_ray* rays, const sap_hit* hits,
                                    sap_ray* shadows) {
    const int64_t i = thread_number();
    if (i >= RAYS) return;
    const float3 zero = make_float3(0, 0, 0), direction = gpu_vector_of(rays[i].direction);
    const sap_hit hit = hits[i];
    if (hit.triangle < 0) {
        shadows[i] = gpu_ray_of(zero, zero, -1); // hits nothing
        return;
    }
    const float3 at = gpu_moved(gpu_vector_of(rays[i].origin), hit.t, direction);
    const float3 from = gpu_moved(at, view.lift, facing_normal(mesh, hit.triangle, direction));
    shadows[i] = gpu_ray_of(from, gpu_moved(view.light, -1, from), 1);
}

// A ray from each hit, mirrored; the mirror is a little rough, so that rays part.
static __global__ void send_on(frame_view view, sap_mesh mesh, const sap_ray* rays, const sap_hit* hits, sap_ray* on) {
    const int64_t i = thread_number();
    if (i >= RAYS) return;
    const float3 zero = make_float3(0, 0, 0), direction = gpu_vector_of(rays[i].direction);
    const sap_hit hit = hits[i];
    if (hit.triangle < 0) {
        on[i] = gpu_ray_of(zero, zero, -1); // hits nothing
        return;
    }
    const float3 normal = facing_normal(mesh, hit.triangle, direction), unit = gpu_unit(direction);
    const uint32_t mixed = (uint32_t)i * 2654435761u;
    const float3 rough = make_float3((float)(mixed & 1023) - 511.5f, (float)(mixed >> 10 & 1023) - 511.5f,
                                     (float)(mixed >> 20 & 1023) - 511.5f);
    const float3 mirrored = gpu_moved(unit, -2 * gpu_dot(unit, normal), normal);
    const float3 at = gpu_moved(gpu_vector_of(rays[i].origin), hit.t, direction);
    on[i] = gpu_ray_of(gpu_moved(at, view.lift, normal), gpu_moved(mirrored, 0.5f / 512, rough), INFINITY);
}

static __global__ void put_pixels(sap_mesh mesh, const sap_ray* rays, const sap_hit* hits, const sap_ray* shadows,
                                  const uint8_t* dark, uint8_t* pixels) {
    const int64_t i = thread_number();
    if (i >= RAYS) return;
    int x, y;
    pixel_of(i, &x, &y);
    float light = 1;
    if (hits[i].triangle >= 0) {
        const float3 normal = facing_normal(mesh, hits[i].triangle, gpu_vector_of(rays[i].direction));
        const float3 to_light = gpu_vector_of(shadows[i].direction);
        const float cosine = gpu_dot(normal, to_light);
        light = 0.2f + (dark[i] || cosine < 0 ? 0 : 0.8f * cosine * rsqrtf(gpu_dot(to_light, to_light)));
    }
    pixels[y * SIDE + x] = (uint8_t)(255 * fminf(light, 1));
}

// ---- The mesh

// The camera sees the whole mesh; the light stands above it.
static void place_view(frame_stage* s) {
    sap_camera camera = {};
    sap_mesh_tree_info info;
    frame_view* v = &s->view;
    GPU_SAP(sap_camera_frame(s->tree, SIDE, SIDE, &camera));
    GPU_SAP(sap_mesh_tree_describe(s->tree, &info));
    const float3 lower = gpu_vector_of(info.lower), size = gpu_moved(gpu_vector_of(info.upper), -1, lower);
    v->eye = gpu_vector_of(camera.eye);
    v->forward = gpu_moved(gpu_vector_of(camera.at), -1, v->eye);
    v->light = make_float3(lower.x + 0.6f * size.x, lower.y + 1.5f * size.y, lower.z + 0.6f * size.z);
    const float half = sqrtf(gpu_dot(v->forward, v->forward)) * tanf(camera.fov * 0.5f * 3.14159265f / 180);
    v->right = gpu_with_length(gpu_cross(v->forward, gpu_vector_of(camera.up)), half);
    v->up = gpu_with_length(gpu_cross(v->right, v->forward), half);
    v->lift = 1e-4f * sqrtf(gpu_dot(size, size));
}

void gpu_frame_open(frame_stage* s) {
    s->rays = (sap_ray*)gpu_memory(RAYS * sizeof(sap_ray));
    s->shadows = (sap_ray*)gpu_memory(RAYS * sizeof(sap_ray));
    s->hits = (sap_hit*)gpu_memory(RAYS * sizeof(sap_hit));
    s->dark = (uint8_t*)gpu_memory(RAYS);
    s->pixels = (uint8_t*)gpu_memory(RAYS);
}

// A mesh of the host that twists.
static void open_twisted(frame_stage* s, const sap_mesh* mesh) {
    const size_t vertices = (size_t)mesh->vertex_count * 3;
    float low = mesh->vertices[1], high = low;
    for (size_t i = 1; i < vertices; i += 3) {
        low = std::min(low, mesh->vertices[i]);
        high = std::max(high, mesh->vertices[i]);
    }
    s->wave = high > low ? 6.2831853f / (high - low) : 0;
    s->rest = (float*)gpu_upload(mesh->vertices, vertices * sizeof(float));
    s->moved = gpu_mesh_upload(mesh);
    gpu_frame_open(s);
}

void gpu_frame_close(gpu_bench* b, frame_stage* s) {
    void* const arrays[] = {s->rest, s->rays, s->shadows, s->hits, s->dark, s->pixels};
    for (void* array : arrays) GPU_CUDA(cudaFree(array));
    sap_device_trim(b->device);
}

// ---- A frame

template <typename... types, typename... values>
static void launch(gpu_bench* b, int64_t items, void (*kernel)(types...), values... arguments) {
    kernel<<<(unsigned)((items + THREADS - 1) / THREADS), THREADS, 0, b->stream>>>(arguments...);
    GPU_CUDA(cudaGetLastError());
}

void gpu_frame_twist(gpu_bench* b, frame_stage* s, const float* rest, float* moved, int64_t count) {
    launch(b, count, move_vertices, rest, moved, count, 0.3f * (float)s->moves++, s->wave);
}

static void twist_mesh(gpu_bench* b, frame_stage* s) {
    gpu_frame_twist(b, s, s->rest, (float*)(uintptr_t)s->moved.vertices, s->moved.vertex_count);
}

static void build(gpu_bench* b, frame_stage* s) {
    sap_mesh_tree_options options = {};
    options.quality = s->quality;
    if (s->tree)
        GPU_SAP(sap_mesh_tree_rebuild(s->tree, s->moved));
    else
        GPU_SAP(sap_mesh_tree_build(b->device, s->moved, &options, &s->tree));
}

static void shade(gpu_bench* b, frame_stage* s) {
    launch(b, RAYS, put_pixels, s->moved, s->rays, s->hits, s->shadows, s->dark, s->pixels);
}

static void draw(gpu_bench* b, frame_stage* s) {
    launch(b, RAYS, send_rays, s->view, s->rays);
    GPU_SAP(sap_trace(s->tree, s->rays, RAYS, s->hits));
    launch(b, RAYS, send_shadows, s->view, s->moved, s->rays, s->hits, s->shadows);
    GPU_SAP(sap_occluded(s->tree, s->shadows, RAYS, s->dark));
    shade(b, s);
    if (!s->bounces) return;
    launch(b, RAYS, send_on, s->view, s->moved, s->rays, s->hits, s->shadows);
    GPU_SAP(sap_trace(s->tree, s->shadows, RAYS, s->hits));
}

static gpu_row row_of(const frame_stage* s, const char* work, double floor_bytes, const gpu_bench* b) {
    gpu_row row = gpu_row_of(work, s->name.c_str(), s->moved.triangle_count, 3);
    row.queries = floor_bytes > 0 ? RAYS : 0;
    row.floor_ms = floor_bytes / b->bytes_a_ms;
    snprintf(row.order, sizeof row.order, "%s", s->quality == SAP_QUALITY_FAST ? "fast" : "high");
    return row;
}

// What a ray and its answer take.
static const double first_bytes = (double)RAYS * (sizeof(sap_ray) + sizeof(sap_hit)),
                    any_bytes = (double)RAYS * (sizeof(sap_ray) + 1);

static void begin_frames(gpu_bench* b, frame_stage* s) {
    s->move(b, s);
    build(b, s);
    place_view(s);
}

static gpu_times measure_frames(gpu_bench* b, frame_stage* s) {
    return gpu_measure(b, [&] {
        s->move(b, s);
        build(b, s);
        draw(b, s);
    });
}

static void end_frames(frame_stage* s) {
    sap_mesh_tree_free(s->tree);
    s->tree = NULL;
}

void gpu_frame_measure(gpu_bench* b, frame_stage* s, const char* work, double target) {
    begin_frames(b, s);
    gpu_row row = row_of(s, work, first_bytes * (s->bounces ? 2 : 1) + any_bytes, b);
    row.target = target;
    gpu_report(b, row, measure_frames(b, s));
    s->bounces = false; // whose rays would take the place of the shadows
    draw(b, s);
    GPU_SAP(sap_device_wait(b->device));
    gpu_check_rays(b, s->tree, RAYS, s->rays, s->hits, s->shadows, s->dark);
    end_frames(s);
}

static void frame_rows(gpu_bench* b, frame_stage* s) {
    begin_frames(b, s);
    gpu_report(b, row_of(s, "frame", first_bytes + any_bytes, b), measure_frames(b, s));
    gpu_report(b, row_of(s, "frame-build", 0, b), gpu_measure(b, [&] { build(b, s); }));
    gpu_report(b, row_of(s, "frame-rays", first_bytes + any_bytes, b), gpu_measure(b, [&] { draw(b, s); }));
    GPU_SAP(sap_device_wait(b->device));
    gpu_check_rays(b, s->tree, RAYS, s->rays, s->hits, s->shadows, s->dark);
    gpu_report(b, row_of(s, "frame-primary", first_bytes, b),
               gpu_measure(b, [&] { GPU_SAP(sap_trace(s->tree, s->rays, RAYS, s->hits)); }));
    gpu_report(b, row_of(s, "frame-shadow", any_bytes, b),
               gpu_measure(b, [&] { GPU_SAP(sap_occluded(s->tree, s->shadows, RAYS, s->dark)); }));
    end_frames(s);
}

// ---- Whole pictures: on the GPU, and the CPU's, with which it must agree

static void picture_rows(gpu_bench* b, frame_stage* s, const sap_mesh_file* file) {
    sap_scene scene = {};
    sap_render_options options = {};
    std::vector<uint8_t> here((size_t)RAYS * 3), there((size_t)RAYS * 3);
    sap_mesh_tree *tree = NULL, *copy = NULL;
    options.width = options.height = SIDE;
    options.samples = SAMPLES;
    GPU_SAP(sap_mesh_tree_build(b->host, file->mesh, NULL, &tree));
    GPU_SAP(sap_mesh_tree_build(b->device, file->mesh, NULL, &copy));
    scene.file = file;
    scene.tree = copy;
    sap_render_info info = {};
    gpu_times times = gpu_measure_on_host(
        b, GPU_WARM_UPS, [&] { GPU_SAP(sap_render(&scene, &options, there.data(), &info)); }, [] {});
    gpu_row row = row_of(s, "render", 0, b);
    row.queries = info.rays;
    gpu_report(b, row, times);
    const double traced = 1e3 * info.trace_seconds;
    row = row_of(s, "render-trace", 0, b);
    row.queries = info.rays;
    gpu_report(b, row, gpu_times{traced, traced, traced}); // of the last picture
    scene.tree = tree;
    const auto start = std::chrono::steady_clock::now();
    GPU_SAP(sap_render(&scene, &options, here.data(), NULL));
    const std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - start;
    gpu_check_bytes(b, RAYS, 3, there.data(), here.data(), "pixels of a picture");
    row = row_of(s, "cpu-render", 0, b);
    row.queries = info.rays;
    if (b->cpu) gpu_report(b, row, gpu_times{ms.count(), ms.count(), ms.count()});
    sap_mesh_tree_free(tree);
    sap_mesh_tree_free(copy);
}

void gpu_frames(gpu_bench* b) {
    const bool frames = gpu_wanted(b, "frame", 0), pictures = gpu_wanted(b, "render", 0);
    if (!frames && !pictures) return;
    std::vector<float> vertices;
    std::vector<int32_t> triangles;
    frame_stage s = {};
    sap_mesh_file *read = gpu_mesh_read(b, "fairy_forest"), made = {};
    s.name = read ? "fairy" : "torus";
    // As many triangles as Fairy Forest has, nearly.
    made.mesh = read ? read->mesh : gpu_torus(293, &vertices, &triangles);
    s.move = twist_mesh;
    open_twisted(&s, &made.mesh);
    for (sap_quality quality : {SAP_QUALITY_FAST, SAP_QUALITY_HIGH}) {
        s.quality = quality;
        if (frames) frame_rows(b, &s);
    }
    if (pictures) picture_rows(b, &s, read ? read : &made);
    gpu_frame_close(b, &s);
    gpu_mesh_free(&s.moved);
    sap_mesh_file_free(read);
}
