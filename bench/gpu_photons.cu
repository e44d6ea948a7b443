// Photons: sent through scenes that throw caustics or scatter light, looked up where a camera looks, and whole frames: the
// tree over triangles, the photons, the tree over them, rays and light.
#include "gpu.cuh"

#include "sapwood/photons.h"

typedef enum photon_stuff { STUFF_METAL, STUFF_GLASS, STUFF_DULL } photon_stuff;

// A thing above a floor, below a lamp. How large the published scenes are, and what their frames are to take.
typedef struct photon_case {
    const char* name;
    photon_stuff stuff;
    int side; // of a torus of 2 * side * side triangles; 0: a ring
    int64_t count;
    int bounces, width, height, k;
    double target; // ms
} photon_case;

static const photon_case cases[] = {{"ring", STUFF_METAL, 0, 200000, 16, 800, 600, 50, 5},
                                    {"glass", STUFF_GLASS, 97, 400000, 6, 800, 600, 40, 7},
                                    {"dull", STUFF_DULL, 293, 1000000, 16, 1920, 1080, 50, 16.7}};

typedef struct photon_stage {
    std::vector<float> vertices;
    std::vector<int32_t> triangles, material_ids;
    sap_material materials[2];
    sap_mesh_file file;
    sap_mesh moved; // on the device
    sap_light lamp;
    sap_mesh_tree *here, *there;
} photon_stage;

enum { RING_AROUND = 1500, RING_TRIANGLES = 2 * RING_AROUND };

// A standing wall around the origin.
static void add_ring(photon_stage* s) {
    for (int i = 0; i < RING_AROUND; i++) {
        const double turn = 6.283185307179586 * i / RING_AROUND;
        for (double y : {-1.0, 0.5})
            s->vertices.insert(s->vertices.end(), {(float)cos(turn), (float)y, (float)sin(turn)});
        const int32_t at = 2 * i, next = 2 * ((i + 1) % RING_AROUND);
        s->triangles.insert(s->triangles.end(), {at, next, at + 1, next, next + 1, at + 1});
    }
}

static void add_floor(photon_stage* s) {
    const int32_t at = (int32_t)(s->vertices.size() / 3);
    for (int corner = 0; corner < 4; corner++)
        s->vertices.insert(s->vertices.end(), {corner & 1 ? 4.0f : -4.0f, -1.15f, corner & 2 ? 4.0f : -4.0f});
    s->triangles.insert(s->triangles.end(), {at, at + 2, at + 1, at + 1, at + 2, at + 3});
}

static void open_stage(gpu_bench* b, const photon_case* c, photon_stage* s) {
    sap_mesh_tree_options options = {};
    options.quality = SAP_QUALITY_FAST;
    if (c->side)
        (void)gpu_torus(c->side, &s->vertices, &s->triangles);
    else
        add_ring(s);
    const size_t thing = s->triangles.size() / 3;
    add_floor(s);
    const sap_material dull = {"dull", {0.7f, 0.6f, 0.5f}, {0, 0, 0}, {0, 0, 0}, 1, 1, 1, 2, {0, 0, 0}},
                       metal = {"metal", {0, 0, 0}, {0.9f, 0.8f, 0.5f}, {0, 0, 0}, 1000, 1, 1, 5, {0, 0, 0}},
                       glass = {"glass", {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 1, 0, 1.5f, 7, {0, 0, 0}};
    s->materials[0] = dull;
    s->materials[1] = c->stuff == STUFF_METAL ? metal : c->stuff == STUFF_GLASS ? glass : dull;
    for (size_t i = 0; i < s->triangles.size() / 3; i++) s->material_ids.push_back(i < thing ? 1 : 0);
    s->file = sap_mesh_file{};
    s->file.mesh = sap_mesh{s->vertices.data(), (int64_t)s->vertices.size() / 3, s->triangles.data(),
                            (int64_t)s->triangles.size() / 3};
    s->file.material_ids = s->material_ids.data();
    s->file.materials = s->materials;
    s->file.material_count = 2;
    s->lamp = sap_light{{c->side ? 0.5f : 2.5f, c->side ? 5.0f : 1.5f, 0.3f}, {1, 1, 1}, {{0}}};
    s->moved = gpu_mesh_upload(&s->file.mesh);
    GPU_SAP(sap_mesh_tree_build(b->host, s->file.mesh, &options, &s->here));
    GPU_SAP(sap_mesh_tree_build(b->device, s->moved, &options, &s->there));
}

static void close_stage(photon_stage* s) {
    sap_mesh_tree_free(s->here);
    sap_mesh_tree_free(s->there);
    gpu_mesh_free(&s->moved);
}

static sap_scene scene_of(const photon_stage* s, const sap_mesh_tree* tree) {
    sap_scene scene = {};
    scene.tree = tree;
    scene.file = &s->file;
    scene.lights = &s->lamp;
    scene.light_count = 1;
    return scene;
}

static gpu_row row_of(const char* work, const photon_case* c) {
    gpu_row row = gpu_row_of(work, "", c->count, 3);
    row.k = c->k;
    snprintf(row.order, sizeof row.order, "%s", c->name);
    return row;
}

// Photons and the tree over them; the light of as many places as the picture has pixels, where photons lie.
static void passes(gpu_bench* b, const photon_case* c, photon_stage* s) {
    const sap_scene here = scene_of(s, s->here), there = scene_of(s, s->there);
    sap_photon_options options = {};
    sap_photons *map = NULL, *expected = NULL;
    sap_photons_info info, of_here;
    options.count = c->count;
    options.bounces = c->bounces;
    options.flat = true;
    options.ambient = -1;
    GPU_SAP(sap_photons_trace(&here, &options, &expected));
    GPU_SAP(sap_photons_describe(expected, &of_here));
    gpu_report(b, row_of("photons-pass", c), gpu_measure(b, [&] {
                   sap_photons_free(map);
                   map = NULL;
                   GPU_SAP(sap_photons_trace(&there, &options, &map));
               }));
    GPU_SAP(sap_photons_describe(map, &info));
    const std::vector<sap_photon> all(of_here.photons, of_here.photons + of_here.count);
    gpu_check_same(b, gpu_sampled(info.photons, info.count), all, "photons-pass");
    const int64_t pixels = (int64_t)c->width * c->height;
    std::vector<float> places, normals, light(3 * pixels);
    for (int64_t i = 0; i < pixels; i++) {
        const sap_photon* photon = &of_here.photons[(int64_t)((double)i / (double)pixels * (double)of_here.count)];
        places.insert(places.end(), photon->position, photon->position + 3);
        normals.insert(normals.end(), photon->normal, photon->normal + 3);
    }
    const size_t bytes = light.size() * sizeof(float);
    float *at = (float*)gpu_upload(places.data(), bytes), *up = (float*)gpu_upload(normals.data(), bytes),
          *to = (float*)gpu_memory(bytes);
    sap_photon_search search = {};
    search.k = c->k;
    gpu_row row = row_of("photons-look", c);
    row.queries = pixels;
    gpu_report(b, row, gpu_measure(b, [&] {
                   GPU_SAP(sap_photons_estimate(map, sap_points{at, pixels, 3, 0}, up, &search, to));
               }));
    GPU_SAP(
        sap_photons_estimate(expected, sap_points{places.data(), pixels, 3, 0}, normals.data(), &search, light.data()));
    gpu_check_same(b, gpu_sampled(to, 3 * pixels), light, "photons-look");
    for (float* array : {at, up, to}) GPU_CUDA(cudaFree(array));
    sap_photons_free(map);
    sap_photons_free(expected);
}

static sap_render_photons photons_of(const photon_case* c) {
    sap_render_photons photons = {};
    photons.count = c->stuff == STUFF_DULL ? c->count : 1;
    photons.caustics = c->stuff == STUFF_DULL ? 1 : c->count;
    photons.bounces = c->bounces;
    photons.search.k = c->k;
    return photons;
}

static sap_render_options options_of(const photon_case* c, const sap_render_photons* photons) {
    sap_render_options options = {};
    options.width = c->width;
    options.height = c->height;
    options.samples = 1;
    options.bounces = 3;
    options.ambient = -1;
    options.flat = true;
    options.photons = photons;
    return options;
}

// A pass of a picture whose radii shrink, each pixel's from that of its 30 nearest photons: the mean of some.
static void progressive(gpu_bench* b, const photon_case* c, photon_stage* s) {
    enum { PASSES = 8, NEAREST = 30 };
    const sap_scene there = scene_of(s, s->there);
    sap_render_photons photons = photons_of(c);
    sap_render_options options = options_of(c, &photons);
    photons.search.k = NEAREST;
    photons.progressive = true;
    options.passes = PASSES;
    std::vector<uint8_t> pixels((size_t)c->width * (size_t)c->height * 3);
    gpu_times times = gpu_measure(b, [&] { GPU_SAP(sap_render(&there, &options, pixels.data(), NULL)); });
    for (double* ms : {&times.median, &times.least, &times.most}) *ms /= PASSES;
    gpu_row row = row_of("photons-progressive", c);
    row.k = NEAREST;
    row.queries = (int64_t)c->width * c->height;
    row.target = 7;
    gpu_report(b, row, times);
}

static void frames(gpu_bench* b, const photon_case* c, photon_stage* s) {
    const sap_scene here = scene_of(s, s->here), there = scene_of(s, s->there);
    const sap_render_photons photons = photons_of(c);
    const sap_render_options options = options_of(c, &photons);
    const size_t bytes = (size_t)c->width * (size_t)c->height * 3;
    std::vector<uint8_t> pixels(bytes), expected(bytes);
    sap_render_info info = {};
    gpu_row row = row_of("photons-frame", c);
    row.queries = (int64_t)c->width * c->height;
    row.target = c->target;
    gpu_report(b, row, gpu_measure(b, [&] {
                   GPU_SAP(sap_mesh_tree_rebuild(s->there, s->moved));
                   GPU_SAP(sap_render(&there, &options, pixels.data(), &info));
               }));
    printf("    of the last frame: photons %.2f, rays %.2f, the rest %.2f ms\n", 1e3 * info.photon_seconds,
           1e3 * info.trace_seconds, 1e3 * info.shade_seconds);
    GPU_SAP(sap_render(&here, &options, expected.data(), NULL));
    gpu_check_same(b, pixels, expected, "photons-frame");
}

void gpu_photons(gpu_bench* b) {
    for (const photon_case& c : cases) {
        if (!gpu_wanted(b, "photons", c.count)) continue;
        photon_stage s = {};
        open_stage(b, &c, &s);
        passes(b, &c, &s);
        frames(b, &c, &s);
        if (c.stuff == STUFF_DULL) progressive(b, &c, &s);
        close_stage(&s);
    }
}
