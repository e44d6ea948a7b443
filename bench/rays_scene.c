// The meshes and their rays. Every camera looks by the same rules; those inside buildings stand where it says below.
#include "rays.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = 8 };

// A camera inside a scene, in fractions of its box: where it stands, what it looks at, where the light is.
typedef struct rays_view {
    float eye[3], middle[3], light[3];
} rays_view;

// Scenes by the beginnings of their names.
static const struct {
    const char* name;
    bool is_inside;
    rays_view view;
    rays_targets targets;
} known[] = {
    {"sponza", true, {{0.16f, 0.22f, 0.47f}, {0.80f, 0.35f, 0.52f}, {0.52f, 0.92f, 0.5f}}, {{1, 1, 1, 1}, 2, 0}},
    {"oa_", true, {{0.30f, 0.55f, 0.30f}, {0.62f, 0.42f, 0.62f}, {0.5f, 0.8f, 0.5f}}, {{1, 1, 1, 1}, 0, 0}},
    {"fairy", false, {{0}, {0}, {0}}, {{0.8, 0.75, 0.6}, 0, 0}},
    {"dragon", false, {{0}, {0}, {0}}, {{0.6, 0.6, 0.5, 1}, 0, 3}},
    {"ct_head", false, {{0}, {0}, {0}}, {{0.6, 0.6, 0.5}, 0, 0}},
    {"bunny", false, {{0}, {0}, {0}}, {{0.6, 0.6, 0.5}, 0, 3}},
};

// The number of a scene in `known`, or -1.
static int known_scene(const char* name) {
    for (int i = 0; i < (int)(sizeof known / sizeof known[0]); i++)
        if (strncmp(name, known[i].name, strlen(known[i].name)) == 0) return i;
    return -1;
}

// A bumpy torus of 2 * 360 * 360 triangles.
static sap_mesh make_torus(void) {
    enum { N = 360 };
    float* v = bench_memory(N * N * 3, sizeof *v);
    int32_t* t = bench_memory(N * N * 6, sizeof *t);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double turn = 6.283185307179586 / N, a = i * turn, b = j * turn;
            double tube = 14 + 1.5 * sin(9 * a) * cos(7 * b), ring = 30 + tube * cos(b);
            int at = i * N + j, side = (i + 1) % N * N + j, up = i * N + (j + 1) % N,
                both = (i + 1) % N * N + (j + 1) % N;
            v[3 * at] = (float)(ring * cos(a));
            v[3 * at + 1] = (float)(tube * sin(b));
            v[3 * at + 2] = (float)(ring * sin(a));
            memcpy(t + 6 * at, (int32_t[]){at, side, both, at, both, up}, 6 * sizeof *t);
        }
    return (sap_mesh){v, N * N, t, 2 * N * N};
}

bool rays_scene_read(rays_scene* scene, const bench_file* file) {
    *scene = (rays_scene){.device = bench_device(1, SAP_SIMD_AUTO, NULL)};
    snprintf(scene->name, sizeof scene->name, "%s", file ? file->name : "torus");
    if (!file) {
        scene->mesh = make_torus();
        return true;
    }
    int number = known_scene(file->name);
    if (number >= 0) scene->targets = known[number].targets;
    const char* end = strrchr(file->path, '.');
    if (end && strcmp(end, ".xz") == 0) {
        size_t size = 0;
        unsigned char* bytes = bench_unpack(file->path, &size);
        if (bytes) sap_mesh_parse(scene->device, bytes, size, SAP_FORMAT_PLY, NULL, &scene->file);
        free(bytes);
    } else {
        sap_mesh_read(scene->device, file->path, SAP_FORMAT_PLY, NULL, &scene->file);
    }
    if (scene->file) scene->mesh = scene->file->mesh;
    return scene->mesh.triangle_count > 0;
}

static float dot(const float* a, const float* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void cross(const float* a, const float* b, float* to) {
    for (int k = 0; k < 3; k++) to[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static void normalize(float* a) {
    float length = sqrtf(dot(a, a));
    for (int k = 0; k < 3 && length > 0; k++) a[k] /= length;
}

static void add_ray(rays_set* set, const float* origin, const float* direction, float t_max) {
    sap_ray* ray = set->rays + set->count;
    *ray = (sap_ray){{origin[0], origin[1], origin[2]}, 0, {direction[0], direction[1], direction[2]}, t_max};
    normalize(ray->direction);
    set->count++;
}

// Where a ray hits, `lift` above the surface, and the surface's direction there, towards where the ray came from.
static void place_above(const rays_scene* scene, const sap_ray* ray, const sap_hit* hit, float lift, float* at,
                        float* n) {
    const int32_t* t = scene->mesh.triangles + 3 * (int64_t)hit->triangle;
    float e[3], f[3];
    for (int k = 0; k < 3; k++) {
        const float* corner = scene->mesh.vertices + k;
        e[k] = corner[3 * (int64_t)t[1]] - corner[3 * (int64_t)t[0]];
        f[k] = corner[3 * (int64_t)t[2]] - corner[3 * (int64_t)t[0]];
    }
    cross(e, f, n);
    normalize(n);
    float facing = dot(n, ray->direction) > 0 ? -1.0f : 1.0f;
    for (int k = 0; k < 3; k++) {
        n[k] *= facing;
        at[k] = ray->origin[k] + hit->t * ray->direction[k] + lift * n[k];
    }
}

// A ray anywhere by the cosine law.
static void add_bounce(rays_set* set, const float* at, const float* n, bench_random* random) {
    float turn = 6.2831853f * bench_random_float(random), out2 = bench_random_float(random), out = sqrtf(out2);
    float axis[3] = {fabsf(n[0]) > 0.5f ? 0.0f : 1.0f, fabsf(n[0]) > 0.5f ? 1.0f : 0.0f, 0}, u[3], v[3], to[3];
    cross(n, axis, u);
    normalize(u);
    cross(n, u, v);
    for (int k = 0; k < 3; k++) to[k] = out * (cosf(turn) * u[k] + sinf(turn) * v[k]) + sqrtf(1 - out2) * n[k];
    add_ray(set, at, to, INFINITY);
}

// A camera's rays, in tiles.
static void add_camera(rays_set* set, int side, const float* eye, const float* middle, float open) {
    float look[3], right[3], up[3], to[3];
    for (int k = 0; k < 3; k++) look[k] = middle[k] - eye[k];
    normalize(look);
    cross(look, (const float[]){0, 1, 0}, right);
    normalize(right);
    cross(right, look, up);
    for (int i = 0; i < side * side; i++) {
        int tile = i / (TILE * TILE), x = tile % (side / TILE) * TILE + i % TILE;
        int y = tile / (side / TILE) * TILE + i % (TILE * TILE) / TILE;
        float a = open * (2 * ((float)x + 0.5f) / (float)side - 1),
              b = open * (1 - 2 * ((float)y + 0.5f) / (float)side);
        for (int k = 0; k < 3; k++) to[k] = look[k] + a * right[k] + b * up[k];
        add_ray(set, eye, to, INFINITY);
    }
}

// Primary rays are a camera's. From where they hit one goes to the light (shadow) and one bounces. Those that leave
// bounce from what a camera outside sees: most of them hit nothing.
static void make_rays(rays_scene* scene, int side) {
    sap_mesh_tree_info info;
    bench_check(sap_mesh_tree_describe(scene->high, &info), "sap_mesh_tree_describe");
    int number = known_scene(scene->name);
    bool is_inside = number >= 0 && known[number].is_inside;
    float size[3], middle[3], outside[3], eye[3], looked_at[3], light[3], at[3], n[3], to[3];
    for (int k = 0; k < 3; k++) size[k] = info.upper[k] - info.lower[k];
    float diagonal = sqrtf(dot(size, size)), lift = 1e-4f * diagonal;
    for (int k = 0; k < 3; k++) {
        middle[k] = looked_at[k] = 0.5f * (info.lower[k] + info.upper[k]);
        outside[k] = eye[k] = middle[k] + (const float[]){0.55f, 0.35f, 0.75f}[k] * diagonal;
        light[k] = middle[k] + (const float[]){0.2f, 0.8f, 0.3f}[k] * size[k];
        if (is_inside) {
            looked_at[k] = info.lower[k] + known[number].view.middle[k] * size[k];
            eye[k] = info.lower[k] + known[number].view.eye[k] * size[k];
            light[k] = info.lower[k] + known[number].view.light[k] * size[k];
        }
    }
    rays_set* primary = &scene->sets[0];
    bench_random random = {17};
    sap_hit* hits = scene->hits[0];
    add_camera(primary, side, outside, middle, 0.32f);
    bench_check(sap_trace(scene->high, primary->rays, primary->count, hits), "sap_trace");
    for (int64_t i = 0; i < primary->count; i++) {
        if (hits[i].triangle < 0) continue;
        place_above(scene, primary->rays + i, hits + i, lift, at, n);
        add_bounce(&scene->sets[3], at, n, &random);
    }
    primary->count = 0;
    random = (bench_random){17};
    add_camera(primary, side, eye, looked_at, is_inside ? 0.7f : 0.32f);
    bench_check(sap_trace(scene->high, primary->rays, primary->count, hits), "sap_trace");
    for (int64_t i = 0; i < primary->count; i++) {
        if (hits[i].triangle < 0) continue;
        place_above(scene, primary->rays + i, hits + i, lift, at, n);
        for (int k = 0; k < 3; k++) to[k] = light[k] - at[k];
        add_ray(&scene->sets[1], at, to, sqrtf(dot(to, to)));
        add_bounce(&scene->sets[2], at, n, &random);
    }
}

// Touched at once, so that no side of a comparison pays for it.
static void* touched(size_t count, size_t bytes) { return memset(bench_memory(count, bytes), 0, count * bytes); }

void rays_scene_prepare(rays_scene* scene, int side) {
    static const char* const names[RAYS_SETS] = {"primary", "shadow", "bounce", "leaving"};
    sap_mesh_tree_options fast = {.quality = SAP_QUALITY_FAST};
    size_t most = (size_t)side * (size_t)side;
    bench_check(sap_mesh_tree_build(scene->device, scene->mesh, NULL, &scene->high), "building a tree");
    bench_check(sap_mesh_tree_build(scene->device, scene->mesh, &fast, &scene->fast), "building a fast tree");
    for (int k = 0; k < RAYS_SETS; k++)
        scene->sets[k] = (rays_set){names[k], bench_memory(most, sizeof(sap_ray)), 0, k == 1};
    for (int k = 0; k < 2; k++) {
        scene->hits[k] = touched(most * RAYS_LIMIT, sizeof(sap_hit));
        scene->counts[k] = touched(most, sizeof(int32_t));
        scene->occluded[k] = touched(most, 1);
    }
    make_rays(scene, side);
    for (int k = 0; k < RAYS_SETS; k++) {
        scene->work[0][k] = rays_count_work(scene->high, &scene->sets[k]);
        scene->work[1][k] = rays_count_work(scene->fast, &scene->sets[k]);
    }
}

void rays_scene_close(rays_scene* scene) {
    sap_mesh_tree_free(scene->high);
    sap_mesh_tree_free(scene->fast);
    for (int k = 0; k < RAYS_SETS; k++) free(scene->sets[k].rays);
    for (int k = 0; k < 2; k++) {
        free(scene->hits[k]);
        free(scene->counts[k]);
        free(scene->occluded[k]);
    }
    if (!scene->file) {
        free((void*)(uintptr_t)scene->mesh.vertices);
        free((void*)(uintptr_t)scene->mesh.triangles);
    }
    sap_mesh_file_free(scene->file);
    sap_device_close(scene->device);
    *scene = (rays_scene){0};
}
