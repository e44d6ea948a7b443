// Rays, nearest points and insides on trees over triangles: built on the CPU, copied to the GPU. 2048 x 2048 rays.
#include "gpu_rays.cuh"
#include <algorithm>
#include <cmath>
#include <utility>

typedef struct rays_stage {
    gpu_ray_scene scene;
    char name[sizeof((gpu_row*)0)->order]; // of the scene, and of its tree
    sap_mesh_tree *host, *tree;
    unsigned char* answers; // on the device: GPU_RAY_LIMIT hits of each ray
    int32_t* numbers;
    double first_ms[2]; // of first hits, by set; 0: not measured
} rays_stage;

static const char* const sets[2] = {"primary", "bounce"};

static gpu_row row_of(const rays_stage* s, const char* work, const char* set, int64_t queries) {
    gpu_row row = gpu_row_of(work, set, s->scene.mesh.triangle_count, 3);
    memcpy(row.order, s->name, sizeof row.order);
    row.queries = queries;
    return row;
}

static void first_hits(gpu_bench* b, rays_stage* s, int set) {
    const sap_ray* rays = s->scene.rays[set];
    sap_hit* hits = (sap_hit*)s->answers;
    const gpu_row row = row_of(s, "rays", sets[set], GPU_RAYS);
    if (!gpu_wanted(b, row.work, 0)) return;
    const gpu_times times = gpu_measure(b, [&] { GPU_SAP(sap_trace(s->tree, rays, GPU_RAYS, hits)); });
    std::vector<sap_hit> expected(GPU_RAYS);
    GPU_SAP(sap_trace(s->host, gpu_sampled(rays, GPU_RAYS).data(), GPU_RAYS, expected.data()));
    gpu_check_same(b, gpu_sampled(hits, GPU_RAYS), expected, row.work);
    s->first_ms[set] = times.median;
    gpu_report(b, row, times);
}

static void any_hit(gpu_bench* b, rays_stage* s, int set) {
    const sap_ray* rays = s->scene.rays[set];
    const gpu_row row = row_of(s, "occluded", sets[set], GPU_RAYS);
    if (!gpu_wanted(b, row.work, 0)) return;
    const gpu_times times = gpu_measure(b, [&] { GPU_SAP(sap_occluded(s->tree, rays, GPU_RAYS, s->answers)); });
    std::vector<uint8_t> expected(GPU_RAYS);
    GPU_SAP(sap_occluded(s->host, gpu_sampled(rays, GPU_RAYS).data(), GPU_RAYS, expected.data()));
    gpu_check_same(b, gpu_sampled(s->answers, GPU_RAYS), expected, row.work);
    gpu_report(b, row, times);
}

static void all_hits(gpu_bench* b, rays_stage* s, int set) {
    enum { STEP = 16, SAMPLED = GPU_RAYS / STEP };
    const sap_ray* rays = s->scene.rays[set];
    sap_hit* hits = (sap_hit*)s->answers;
    gpu_row row = row_of(s, "all", sets[set], GPU_RAYS);
    row.k = GPU_RAY_LIMIT;
    if (!gpu_wanted(b, row.work, 0)) return;
    if (!strncmp(s->name, "sponza", 6) && set == 0) { // at 0.4 of the rate of first hits; at 0.6
        row.target = s->first_ms[set] / 0.4;
        row.stretch = s->first_ms[set] / 0.6;
    }
    const gpu_times times =
        gpu_measure(b, [&] { GPU_SAP(sap_trace_all(s->tree, rays, GPU_RAYS, GPU_RAY_LIMIT, hits, s->numbers)); });
    std::vector<sap_hit> expected((size_t)SAMPLED * GPU_RAY_LIMIT);
    std::vector<int32_t> numbers(SAMPLED);
    GPU_SAP(sap_trace_all(s->host, gpu_sampled(rays, SAMPLED, STEP).data(), SAMPLED, GPU_RAY_LIMIT, expected.data(),
                          numbers.data()));
    gpu_check_same(b, gpu_sampled(hits, SAMPLED, STEP, GPU_RAY_LIMIT), expected, row.work);
    gpu_check_same(b, gpu_sampled(s->numbers, SAMPLED, STEP), numbers, row.work);
    gpu_report(b, row, times);
}

// How many nodes a ray looks at, by the walk of the text that CPU and GPU share.
static void visits(gpu_bench* b, rays_stage* s, int set) {
    const sap_ray* rays = s->scene.rays[set];
    gpu_row row = row_of(s, "visits", sets[set], GPU_RAYS);
    if (!gpu_wanted(b, row.work, 0)) return;
    const gpu_times times =
        gpu_measure(b, [&] { GPU_SAP(sap_trace_visits(s->tree, rays, GPU_RAYS, (sap_hit*)s->answers, s->numbers)); });
    double nodes = 0;
    for (int32_t n : gpu_sampled(s->numbers, GPU_RAYS)) nodes += n;
    row.k = (int)(nodes / GPU_RAYS + 0.5);
    gpu_report(b, row, times);
}

// Nearest points on the mesh to points given on the host, in this order.
static void closest_to(gpu_bench* b, rays_stage* s, const char* set, const std::vector<float>& points) {
    enum { STEP = 16, SAMPLED = GPU_RAY_POINTS / STEP };
    const gpu_row row = row_of(s, "closest", set, GPU_RAY_POINTS);
    float* queries = (float*)gpu_memory(points.size() * sizeof(float));
    GPU_CUDA(cudaMemcpy(queries, points.data(), points.size() * sizeof(float), cudaMemcpyHostToDevice));
    sap_closest* to = (sap_closest*)s->answers;
    const gpu_times times = gpu_measure(b, [&] {
        GPU_SAP(sap_closest_point(s->tree, {queries, GPU_RAY_POINTS, 3, 0}, to));
    });
    const std::vector<float> sampled = gpu_sampled(queries, SAMPLED, STEP, 3);
    std::vector<sap_closest> expected(SAMPLED);
    GPU_SAP(sap_closest_point(s->host, {sampled.data(), SAMPLED, 3, 0}, expected.data()));
    gpu_check_same(b, gpu_sampled(to, SAMPLED, STEP), expected, row.work);
    gpu_report(b, row, times);
    GPU_CUDA(cudaFree(queries));
}

// The same points in Morton order, 10 bits an axis.
static std::vector<float> in_morton_order(const std::vector<float>& points) {
    float lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (size_t i = 0; i < points.size(); i++) {
        lower[i % 3] = std::min(lower[i % 3], points[i]);
        upper[i % 3] = std::max(upper[i % 3], points[i]);
    }
    std::vector<std::pair<uint32_t, uint32_t>> keys(points.size() / 3);
    for (size_t i = 0; i < keys.size(); i++) {
        uint32_t code = 0;
        for (int axis = 0; axis < 3; axis++) {
            const float size = upper[axis] - lower[axis];
            const uint32_t cell = size > 0 ? (uint32_t)(1023 * ((points[3 * i + axis] - lower[axis]) / size)) : 0;
            for (int bit = 0; bit < 10; bit++) code |= (cell >> bit & 1) << (3 * bit + axis);
        }
        keys[i] = {code, (uint32_t)i};
    }
    std::sort(keys.begin(), keys.end());
    std::vector<float> sorted;
    sorted.reserve(points.size());
    for (const auto& key : keys)
        for (int axis = 0; axis < 3; axis++) sorted.push_back(points[3 * (size_t)key.second + axis]);
    return sorted;
}

// Points anywhere in the box, and those moved to a hundredth of their distance, as they come and in Morton order.
static void closest_points(gpu_bench* b, rays_stage* s) {
    const std::vector<float> points = gpu_sampled(s->scene.points, GPU_RAY_POINTS, 1, 3);
    closest_to(b, s, "", points);
    const std::vector<sap_closest> found = gpu_sampled((sap_closest*)s->answers, GPU_RAY_POINTS);
    std::vector<float> near(points.size());
    for (size_t i = 0; i < near.size(); i++) {
        const float foot = found[i / 3].point[i % 3];
        near[i] = foot + 0.01f * (points[i] - foot);
    }
    closest_to(b, s, "near", near);
    closest_to(b, s, "sorted", in_morton_order(points));
    closest_to(b, s, "near-sorted", in_morton_order(near));
}

static void about_points(gpu_bench* b, rays_stage* s) {
    enum { STEP = 16, SAMPLED = GPU_RAY_POINTS / STEP };
    const std::vector<float> points = gpu_sampled(s->scene.points, SAMPLED, STEP, 3);
    const gpu_row inside = row_of(s, "inside", "", GPU_RAY_POINTS);
    if (gpu_wanted(b, "closest", 0)) closest_points(b, s);
    if (gpu_wanted(b, inside.work, 0)) {
        const gpu_times times = gpu_measure(b, [&] {
            GPU_SAP(sap_inside(s->tree, {s->scene.points, GPU_RAY_POINTS, 3, 0}, s->answers));
        });
        std::vector<uint8_t> expected(SAMPLED);
        GPU_SAP(sap_inside(s->host, {points.data(), SAMPLED, 3, 0}, expected.data()));
        gpu_check_same(b, gpu_sampled(s->answers, SAMPLED, STEP), expected, inside.work);
        gpu_report(b, inside, times);
    }
}

static void rows_of_tree(gpu_bench* b, rays_stage* s) {
    for (int set = 0; set < 2; set++) {
        first_hits(b, s, set);
        any_hit(b, s, set);
        all_hits(b, s, set);
        visits(b, s, set);
    }
    about_points(b, s);
}

static const struct {
    const char* name;
    sap_mesh_tree_options options;
} trees[] = {{"", {SAP_QUALITY_HIGH, SAP_COST_SURFACE, 0, 0, 0, 0, 0, 0, 0}},
             {" 2:1", {SAP_QUALITY_HIGH, SAP_COST_SURFACE, 0, 2, 1, 0, 0, 0, 0}}, // costs: of a step, of a test
             {" fast", {SAP_QUALITY_FAST, SAP_COST_SURFACE, 0, 0, 0, 0, 0, 0, 0}}};

static void rows_of_scene(gpu_bench* b, rays_stage* s) {
    s->answers = (unsigned char*)gpu_memory(GPU_RAYS * GPU_RAY_LIMIT * sizeof(sap_hit));
    s->numbers = (int32_t*)gpu_memory(GPU_RAYS * sizeof(int32_t));
    for (const auto& kind : trees) {
        snprintf(s->name, sizeof s->name, "%s%s", s->scene.view->name, kind.name);
        GPU_SAP(sap_mesh_tree_build(b->host, s->scene.mesh, &kind.options, &s->host));
        GPU_SAP(sap_mesh_tree_copy(s->host, b->device, &s->tree));
        s->first_ms[0] = s->first_ms[1] = 0;
        if (!s->scene.points) gpu_ray_scene_aim(b, &s->scene, s->tree);
        rows_of_tree(b, s);
        sap_mesh_tree_free(s->tree);
        sap_mesh_tree_free(s->host);
    }
    GPU_CUDA(cudaFree(s->answers));
    GPU_CUDA(cudaFree(s->numbers));
}

void gpu_rays(gpu_bench* b) {
    bool wanted = false, found = false;
    for (const char* work : {"rays-", "occluded-", "all-", "visits-", "closest", "inside"})
        wanted = wanted || gpu_wanted(b, work, 0);
    if (!wanted) return;
    for (int i = 0; i <= GPU_RAY_VIEWS; i++) {
        rays_stage s = {};
        if (i == GPU_RAY_VIEWS && found) break; // the formula's scene stands in for a folder's
        if (!gpu_ray_scene_read(b, i, &s.scene)) continue;
        found = true;
        rows_of_scene(b, &s);
        gpu_ray_scene_close(&s.scene);
        sap_device_trim(b->device);
    }
}
