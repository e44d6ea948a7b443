// sapwood_instances_bench MESH [SIDE]: SIDE x SIDE turned copies of a mesh as instances, beside one tree over all their
// triangles and, where it is found, Embree's instances. Prints, for one thread, how long both take to build, and to trace the rays of a camera and rays from where
// those hit in random directions; and for how many rays both find the same.
#include "instances.h"
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = 512, RAYS = PIXELS * PIXELS, REPS = 7, MANY = 10000 };

typedef struct sides {
    sap_device* device;
    sap_mesh mesh, flat; // flat: all copies
    sap_mesh_tree *tree, *flat_tree;
    sap_instance* instances;
    int count;
    sap_instance_tree *world, *many;
    sap_instance* crowd; // [MANY]
    sap_ray* rays;
    sap_instance_hit *hits, *rival_hits;
    sap_hit* flat_hits;
    void *rival, *rival_many; // Embree's, or NULL
} sides;

static void* memory_of(size_t count, size_t each) {
    void* memory = calloc(count, each);
    if (!memory) exit(1);
    return memory;
}

static void must(sap_status status) {
    if (status == SAP_OK) return;
    fprintf(stderr, "bench: %s\n", sap_status_string(status));
    exit(1);
}

static uint32_t next_number(uint32_t* state) { return *state = *state * 1664525u + 1013904223u; }
static float next_unit(uint32_t* state) { return (float)(next_number(state) >> 8) * 0x1p-24f; }

// Copy i of a row of `side`: turned about y, its middle in its own square of the plane of x and z.
static void place(const sap_mesh_tree_info* info, int i, int side, float* m) {
    const double angle = 0.7 * i, c = cos(angle), s = sin(angle);
    const double width =
        1.2 * fmax((double)info->upper[0] - (double)info->lower[0], (double)info->upper[2] - (double)info->lower[2]);
    const double x = ((double)info->lower[0] + (double)info->upper[0]) / 2;
    const double z = ((double)info->lower[2] + (double)info->upper[2]) / 2;
    const double at[12] = {c,  0, s, (i % side - 0.5 * side) * width - c * x - s * z, 0, 1, 0, 0,
                           -s, 0, c, (i / side - 0.5 * side) * width + s * x - c * z};
    for (int k = 0; k < 12; k++) m[k] = (float)at[k];
}

static void flatten(sides* b) {
    const int64_t v = b->mesh.vertex_count, t = b->mesh.triangle_count;
    float* vertices = memory_of((size_t)(3 * v * b->count), sizeof *vertices);
    int32_t* triangles = memory_of((size_t)(3 * t * b->count), sizeof *triangles);
    for (int64_t i = 0; i < b->count; i++) {
        const float* m = b->instances[i].transform;
        for (int64_t j = 0; j < v; j++)
            for (int r = 0; r < 3; r++) {
                const float* from = b->mesh.vertices + 3 * j;
                vertices[3 * (i * v + j) + r] =
                    m[4 * r] * from[0] + m[4 * r + 1] * from[1] + m[4 * r + 2] * from[2] + m[4 * r + 3];
            }
        for (int64_t j = 0; j < 3 * t; j++) triangles[3 * i * t + j] = b->mesh.triangles[j] + (int32_t)(i * v);
    }
    b->flat = (sap_mesh){vertices, v * b->count, triangles, t * b->count};
}

static void rebuild(void* state) {
    sides* b = state;
    must(sap_instance_tree_rebuild(b->world, b->instances, b->count));
}
static void rebuild_many(void* state) {
    sides* b = state;
    must(sap_instance_tree_rebuild(b->many, b->crowd, MANY));
}
static void trace(void* state) {
    sides* b = state;
    must(sap_instance_trace(b->world, b->rays, RAYS, b->hits));
}
static void trace_flat(void* state) {
    sides* b = state;
    must(sap_trace(b->flat_tree, b->rays, RAYS, b->flat_hits));
}
static void rebuild_rival(void* state) {
    sides* b = state;
    instances_embree->rebuild(b->rival, b->instances);
}
static void rebuild_rival_many(void* state) {
    sides* b = state;
    instances_embree->rebuild(b->rival_many, b->crowd);
}
static void trace_rival(void* state) {
    sides* b = state;
    instances_embree->trace(b->rival, b->rays, RAYS, b->rival_hits);
}

static void camera(sides* b, const sap_instance_tree_info* info) {
    double size = 0;
    for (int k = 0; k < 3; k++) size = fmax(size, (double)info->upper[k] - (double)info->lower[k]);
    for (int i = 0; i < RAYS; i++) {
        const float x = ((float)(i % PIXELS) + 0.5f) / PIXELS - 0.5f, y = ((float)(i / PIXELS) + 0.5f) / PIXELS - 0.5f;
        b->rays[i] = (sap_ray){{(info->lower[0] + info->upper[0]) / 2, info->upper[1] + (float)size * 0.5f,
                                info->lower[2] - (float)size * 0.6f},
                               0,
                               {x, -0.55f - y, 1},
                               INFINITY};
    }
}

// From where the rays hit, or else from their origins, anywhere.
static void bounce(sides* b) {
    uint32_t state = 1;
    for (int i = 0; i < RAYS; i++) {
        sap_ray* r = &b->rays[i];
        const float t = b->hits[i].triangle < 0 ? 0 : b->hits[i].t * 0.9999f;
        for (int k = 0; k < 3; k++) r->origin[k] += r->direction[k] * t;
        for (int k = 0; k < 3; k++) r->direction[k] = next_unit(&state) - 0.5f;
    }
}

static void compare(sides* b, const char* name) {
    const bench_options options = {.reps = REPS, .cpu_time = true};
    bench_side all[3] = {
        {.pass = trace, .state = b}, {.pass = trace_flat, .state = b}, {.pass = trace_rival, .state = b}};
    int same = 0, hits = 0, rival_same = 0;
    bench_take_turns(all, b->rival ? 3 : 2, &options);
    for (int i = 0; i < RAYS; i++) {
        const sap_instance_hit* h = &b->hits[i];
        const int64_t triangle = h->triangle < 0 ? -1 : h->instance * b->mesh.triangle_count + h->triangle;
        same += triangle == b->flat_hits[i].triangle;
        hits += h->triangle >= 0;
        rival_same += b->rival && h->triangle == b->rival_hits[i].triangle && h->instance == b->rival_hits[i].instance;
    }
    const double own = bench_median(&all[0]), flat = bench_median(&all[1]);
    printf("%s: instances %.2f M rays/s, one tree %.2f M rays/s, ratio %.2f; %.1f %% hit, %d of %d differ\n", name,
           RAYS / own * 1e-6, RAYS / flat * 1e-6, flat / own, 100.0 * hits / RAYS, RAYS - same, RAYS);
    if (!b->rival) return;
    const double rival = bench_median(&all[2]);
    printf("%s: Embree's instances %.2f M rays/s, ratio %.2f; %d differ\n", name, RAYS / rival * 1e-6, rival / own,
           RAYS - rival_same);
}

int main(int argc, char** argv) {
    sides b = {0};
    sap_mesh_file* file = NULL;
    sap_mesh_tree_info mesh_info, flat_info;
    sap_instance_tree_info info;
    if (argc < 2 || argc > 3) {
        fputs("use: sapwood_instances_bench MESH [SIDE]\n", stderr);
        return 2;
    }
    const int side = argc > 2 ? bench_whole_number(argv[2], 1, 100) : 5;
    must(sap_device_open(&(sap_device_options){.processor = SAP_CPU, .threads = 1}, &b.device));
    must(sap_mesh_read(b.device, argv[1], SAP_FORMAT_AUTO, NULL, &file));
    b.mesh = file->mesh;
    double start = bench_cpu_seconds();
    must(sap_mesh_tree_build(b.device, b.mesh, NULL, &b.tree));
    const double of_mesh = bench_cpu_seconds() - start;
    must(sap_mesh_tree_describe(b.tree, &mesh_info));
    b.count = side * side;
    b.instances = memory_of((size_t)b.count, sizeof *b.instances);
    b.crowd = memory_of(MANY, sizeof *b.crowd);
    for (int i = 0; i < MANY; i++) {
        b.crowd[i].tree = b.tree;
        place(&mesh_info, i, 100, b.crowd[i].transform);
    }
    for (int i = 0; i < b.count; i++) {
        b.instances[i].tree = b.tree;
        place(&mesh_info, i, side, b.instances[i].transform);
    }
    flatten(&b);
    start = bench_cpu_seconds();
    must(sap_mesh_tree_build(b.device, b.flat, NULL, &b.flat_tree));
    const double of_flat = bench_cpu_seconds() - start;
    must(sap_mesh_tree_describe(b.flat_tree, &flat_info));
    must(sap_instance_tree_build(b.device, b.instances, b.count, &b.world));
    must(sap_instance_tree_build(b.device, b.crowd, MANY, &b.many));
    must(sap_instance_tree_describe(b.world, &info));
    b.rays = memory_of(RAYS, sizeof *b.rays);
    b.hits = memory_of(RAYS, sizeof *b.hits);
    b.flat_hits = memory_of(RAYS, sizeof *b.flat_hits);
    const bench_options options = {.reps = REPS, .cpu_time = true};
    b.rival_hits = memory_of(RAYS, sizeof *b.rival_hits);
    if (instances_embree) {
        b.rival = instances_embree->open(&b.mesh, b.instances, b.count);
        b.rival_many = instances_embree->open(&b.mesh, b.crowd, MANY);
    }
    bench_side builds[4] = {{.pass = rebuild, .state = &b},
                            {.pass = rebuild_many, .state = &b},
                            {.pass = rebuild_rival, .state = &b},
                            {.pass = rebuild_rival_many, .state = &b}};
    bench_take_turns(builds, b.rival ? 4 : 2, &options);
    printf("%d instances of %lld triangles: %.0f us anew (%d: %.2f ms), after %.2f s for the mesh; one tree %.2f s\n",
           b.count, (long long)b.mesh.triangle_count, bench_median(&builds[0]) * 1e6, MANY,
           bench_median(&builds[1]) * 1e3, of_mesh, of_flat);
    if (b.rival)
        printf("Embree's instances: %.0f us anew (%d: %.2f ms)\n", bench_median(&builds[2]) * 1e6, MANY,
               bench_median(&builds[3]) * 1e3);
    printf("bytes: instances %.1f MB, one tree %.1f MB\n", (double)(mesh_info.bytes + info.bytes) * 1e-6,
           (double)flat_info.bytes * 1e-6);
    camera(&b, &info);
    compare(&b, "camera");
    bounce(&b);
    compare(&b, "random");
    if (b.rival) {
        instances_embree->release(b.rival);
        instances_embree->release(b.rival_many);
    }
    sap_instance_tree_free(b.world);
    sap_instance_tree_free(b.many);
    sap_mesh_tree_free(b.tree);
    sap_mesh_tree_free(b.flat_tree);
    sap_mesh_file_free(file);
    sap_device_close(b.device);
    free((void*)(uintptr_t)b.flat.vertices);
    free((void*)(uintptr_t)b.flat.triangles);
    free(b.instances);
    free(b.crowd);
    free(b.rays);
    free(b.hits);
    free(b.flat_hits);
    free(b.rival_hits);
    return 0;
}
