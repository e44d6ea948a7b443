// Rays beside Embree 3, where it is found: one thread, the same rays, passes in turn, medians of times and of ratios.
// Embree is asked ray by ray, Sapwood for all rays of a set in one call; both write hits of 16 bytes.
//   sapwood_rays_bench [--reps N] [--data FOLDER]      scenes: the PLY files of the folder, else a built-in one
#include "sapwood/sapwood.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(BENCH_EMBREE)
#include <embree3/rtcore.h>
#endif

enum { SIDE = 1024, TILE = 8, REPS_MOST = 99, SETS = 3 };

typedef struct ray_set {
    const char* name;
    sap_ray* rays;
    int64_t count;
} ray_set;

static sap_hit hits[SIDE * SIDE];
static uint8_t occluded[SIDE * SIDE];

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void check(sap_status status, const char* what) {
    if (status == SAP_OK) return;
    fprintf(stderr, "rays: %s: %s\n", what, sap_status_string(status));
    exit(1);
}

static void* memory(size_t bytes) {
    void* block = malloc(bytes);
    if (!block) check(SAP_ERROR_MEMORY, "memory");
    return block;
}

static float dot(const float* a, const float* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void cross(const float* a, const float* b, float* to) {
    for (int k = 0; k < 3; k++) to[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static void normalize(float* a) {
    float length = sqrtf(dot(a, a));
    for (int k = 0; k < 3 && length > 0; k++) a[k] /= length;
}

static float random_unit(uint32_t i, uint32_t salt) {
    uint32_t x = (i + 1) * 0x9e3779b9u ^ salt * 0x85ebca6bu;
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return (float)((x ^ x >> 16) >> 8) / 16777216.0f;
}

// ---- Scenes

// A bumpy torus of 2 * 360 * 360 triangles.
static sap_mesh analytic(void) {
    enum { N = 360 };
    float* v = memory(N * N * 3 * sizeof *v);
    int32_t* t = memory(N * N * 6 * sizeof *t);
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

static void add_ray(ray_set* set, const float* origin, const float* direction, float t_max) {
    sap_ray* ray = set->rays + set->count;
    *ray = (sap_ray){{origin[0], origin[1], origin[2]}, 0, {direction[0], direction[1], direction[2]}, t_max};
    normalize(ray->direction);
    set->count++;
}

// From where a ray hits: one ray to the light, and one anywhere by the cosine law.
static void add_secondary(const sap_mesh* mesh, ray_set* sets, const sap_ray* ray, const sap_hit* hit,
                          const float* light, float lift, uint32_t number) {
    const int32_t* t = mesh->triangles + 3 * (int64_t)hit->triangle;
    float e[3], f[3], n[3], at[3], to[3], u[3], v[3];
    for (int k = 0; k < 3; k++) {
        e[k] = mesh->vertices[3 * t[1] + k] - mesh->vertices[3 * t[0] + k];
        f[k] = mesh->vertices[3 * t[2] + k] - mesh->vertices[3 * t[0] + k];
    }
    cross(e, f, n);
    normalize(n);
    float facing = dot(n, ray->direction) > 0 ? -1.0f : 1.0f;
    for (int k = 0; k < 3; k++) {
        n[k] *= facing;
        at[k] = ray->origin[k] + hit->t * ray->direction[k] + lift * n[k];
        to[k] = light[k] - at[k];
    }
    add_ray(&sets[1], at, to, sqrtf(dot(to, to)));
    float turn = 6.2831853f * random_unit(number, 1), out2 = random_unit(number, 2), out = sqrtf(out2);
    float axis[3] = {fabsf(n[0]) > 0.5f ? 0.0f : 1.0f, fabsf(n[0]) > 0.5f ? 1.0f : 0.0f, 0};
    cross(n, axis, u);
    normalize(u);
    cross(n, u, v);
    for (int k = 0; k < 3; k++) to[k] = out * (cosf(turn) * u[k] + sinf(turn) * v[k]) + sqrtf(1 - out2) * n[k];
    add_ray(&sets[2], at, to, INFINITY);
}

// A camera's rays in tiles, and those that start where they hit. Same rules for every scene.
static void make_rays(const sap_mesh_tree* tree, const sap_mesh* mesh, ray_set* sets) {
    sap_mesh_tree_info info;
    check(sap_mesh_tree_describe(tree, &info), "describe");
    float side[3], middle[3], look[3], right[3], up[3], eye[3], light[3], diagonal;
    for (int k = 0; k < 3; k++) {
        side[k] = info.upper[k] - info.lower[k];
        middle[k] = 0.5f * (info.lower[k] + info.upper[k]);
    }
    diagonal = sqrtf(dot(side, side));
    for (int k = 0; k < 3; k++) {
        eye[k] = middle[k] + (float[]){0.55f, 0.35f, 0.75f}[k] * diagonal;
        light[k] = middle[k] + (float[]){0.2f, 0.8f, 0.3f}[k] * side[k];
        look[k] = middle[k] - eye[k];
    }
    normalize(look);
    cross(look, (float[]){0, 1, 0}, right);
    normalize(right);
    cross(right, look, up);
    for (int i = 0; i < SIDE * SIDE; i++) {
        int tile = i / (TILE * TILE), x = tile % (SIDE / TILE) * TILE + i % TILE;
        int y = tile / (SIDE / TILE) * TILE + i % (TILE * TILE) / TILE;
        float a = 0.32f * (2 * ((float)x + 0.5f) / SIDE - 1), b = 0.32f * (1 - 2 * ((float)y + 0.5f) / SIDE), to[3];
        for (int k = 0; k < 3; k++) to[k] = look[k] + a * right[k] + b * up[k];
        add_ray(&sets[0], eye, to, INFINITY);
    }
    check(sap_trace(tree, sets[0].rays, sets[0].count, hits), "first hits");
    for (int i = 0; i < SIDE * SIDE; i++)
        if (hits[i].triangle >= 0)
            add_secondary(mesh, sets, sets[0].rays + i, hits + i, light, 1e-4f * diagonal, (uint32_t)i);
}

// ---- Passes. Each returns how many rays hit.

static int64_t pass_sapwood(const sap_mesh_tree* tree, const ray_set* set, bool shadow) {
    int64_t sum = 0;
    if (shadow)
        check(sap_occluded(tree, set->rays, set->count, occluded), "occlusion");
    else
        check(sap_trace(tree, set->rays, set->count, hits), "first hits");
    for (int64_t i = 0; i < set->count; i++) sum += shadow ? occluded[i] : hits[i].triangle >= 0;
    return sum;
}

#if defined(BENCH_EMBREE)
static RTCScene open_embree(RTCDevice device, const sap_mesh* mesh) {
    RTCScene scene = rtcNewScene(device);
    RTCGeometry shape = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
    size_t vertices = (size_t)mesh->vertex_count, triangles = (size_t)mesh->triangle_count;
    memcpy(rtcSetNewGeometryBuffer(shape, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 12, vertices), mesh->vertices,
           12 * vertices);
    memcpy(rtcSetNewGeometryBuffer(shape, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12, triangles), mesh->triangles,
           12 * triangles);
    rtcCommitGeometry(shape);
    rtcAttachGeometry(scene, shape);
    rtcReleaseGeometry(shape);
    rtcCommitScene(scene);
    return scene;
}

static int64_t pass_embree(RTCScene scene, const ray_set* set, bool shadow) {
    struct RTCIntersectContext context;
    int64_t sum = 0;
    rtcInitIntersectContext(&context);
    for (int64_t i = 0; i < set->count; i++) {
        const sap_ray* r = set->rays + i;
        struct RTCRayHit h = {.ray = {.org_x = r->origin[0],
                                      .org_y = r->origin[1],
                                      .org_z = r->origin[2],
                                      .dir_x = r->direction[0],
                                      .dir_y = r->direction[1],
                                      .dir_z = r->direction[2],
                                      .tfar = r->t_max,
                                      .mask = ~0u},
                              .hit = {.primID = RTC_INVALID_GEOMETRY_ID, .geomID = RTC_INVALID_GEOMETRY_ID}};
        h.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
        if (shadow) {
            rtcOccluded1(scene, &context, &h.ray);
            occluded[i] = h.ray.tfar < 0;
            sum += occluded[i];
        } else {
            rtcIntersect1(scene, &context, &h);
            hits[i] = (sap_hit){h.ray.tfar, h.hit.u, h.hit.v, (int32_t)h.hit.primID};
            sum += hits[i].triangle >= 0;
        }
    }
    return sum;
}
#endif

// ---- Rows

static int ascending(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double median(double* values, int count) {
    qsort(values, (size_t)count, sizeof *values, ascending);
    return values[count / 2];
}

static void run_scene(sap_device* device, const char* name, const sap_mesh* mesh, int reps) {
    sap_mesh_tree* tree = NULL;
    double start = cpu_seconds();
    check(sap_mesh_tree_build(device, *mesh, NULL, &tree), "building a tree");
    printf("%s: %lld triangles, tree built in %.0f ms\n", name, (long long)mesh->triangle_count,
           (cpu_seconds() - start) * 1e3);
    ray_set sets[SETS] = {{"primary", NULL, 0}, {"shadow", NULL, 0}, {"bounce", NULL, 0}};
    for (int k = 0; k < SETS; k++) sets[k].rays = memory(SIDE * SIDE * sizeof(sap_ray));
    make_rays(tree, mesh, sets);
#if defined(BENCH_EMBREE)
    RTCDevice embree = rtcNewDevice("threads=1");
    RTCScene scene = open_embree(embree, mesh);
#endif
    for (int k = 0; k < SETS; k++) {
        double own[REPS_MOST], rival[REPS_MOST], ratio[REPS_MOST], rays = (double)sets[k].count * 1e-6;
        int64_t found = pass_sapwood(tree, &sets[k], k == 1), other = found;
        for (int rep = 0; rep < reps; rep++) {
            rival[rep] = 0;
#if defined(BENCH_EMBREE)
            start = cpu_seconds();
            other = pass_embree(scene, &sets[k], k == 1);
            rival[rep] = cpu_seconds() - start;
#endif
            start = cpu_seconds();
            pass_sapwood(tree, &sets[k], k == 1);
            own[rep] = cpu_seconds() - start;
            ratio[rep] = rival[rep] / own[rep];
        }
        printf("  %-8s %7lld rays %7.2f Mrays/s", sets[k].name, (long long)sets[k].count, rays / median(own, reps));
        if (rival[0] > 0)
            printf("   Embree %7.2f = %.2fx; hits %lld and %lld", rays / median(rival, reps), median(ratio, reps),
                   (long long)found, (long long)other);
        printf("\n");
        fflush(stdout);
        free(sets[k].rays);
    }
#if defined(BENCH_EMBREE)
    rtcReleaseScene(scene);
    rtcReleaseDevice(embree);
#endif
    sap_mesh_tree_free(tree);
}

static void run_folder(sap_device* device, const char* folder, int reps) {
    struct dirent** names;
    int count = scandir(folder, &names, NULL, alphasort);
    if (count < 0) check(SAP_ERROR_IO, folder);
    for (int i = 0; i < count; i++) {
        char path[4096];
        const char* end = strrchr(names[i]->d_name, '.');
        sap_mesh_file* file = NULL;
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        if (end && !strcmp(end, ".ply")) {
            check(sap_mesh_read(device, path, SAP_FORMAT_AUTO, NULL, &file), path);
            if (file->mesh.triangle_count) run_scene(device, names[i]->d_name, &file->mesh, reps);
            sap_mesh_file_free(file);
        }
        free(names[i]);
    }
    free(names);
}

int main(int count, char** words) {
    sap_device_options options = {.processor = SAP_CPU, .threads = 1};
    sap_device* device = NULL;
    const char* folder = NULL;
    int reps = 9;
    for (int i = 1; i + 1 < count; i += 2) {
        if (!strcmp(words[i], "--data")) folder = words[i + 1];
        if (!strcmp(words[i], "--reps")) reps = atoi(words[i + 1]);
    }
    if (reps < 1 || reps > REPS_MOST || count % 2 == 0) {
        fprintf(stderr, "usage: run.sh rays [--reps 1 … %d] [--data FOLDER]\n", REPS_MOST);
        return 2;
    }
    check(sap_device_open(&options, &device), "opening a device");
    if (folder) {
        run_folder(device, folder, reps);
    } else {
        sap_mesh mesh = analytic();
        run_scene(device, "bumpy torus", &mesh, reps);
        free((float*)(uintptr_t)mesh.vertices);
        free((int32_t*)(uintptr_t)mesh.triangles);
    }
    sap_device_close(device);
    return 0;
}
