// film POINTS FRAMES NAME [--cuda]
//
// Films points that relax on the surface that they sample: in each frame a tree is built, the density, the normals and the
// forces about each point are found, and the points move. POINTS is a file of points of three dimensions, or how many to
// make: strewn at random over a pebble with dents. Pictures are NAME-000.png and so on, coloured by how far off the
// 16th neighbour is.
#include "demo_picture.h"

#include <math.h>
#include <sapwood/sapwood.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NEIGHBOURS = 16, WIDTH = 400 };

static void complain(void* user, sap_status status, const char* sentence) {
    (void)user;
    fprintf(stderr, "film: %s: %s\n", sap_status_string(status), sentence);
}

static void must(sap_status status) {
    if (status != SAP_OK) exit(1); // the log has said why
}

static double seconds(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void* memory(int64_t count, size_t bytes) {
    void* block = malloc((size_t)count * bytes + 1);
    if (!block) {
        fprintf(stderr, "film: out of memory\n");
        exit(1);
    }
    return block;
}

// 0 to 1, by a 64-bit linear congruential generator (Knuth's MMIX).
static double random_number(uint64_t* state) {
    *state = *state * 6364136223846793005 + 1442695040888963407;
    return (double)(*state >> 11) * 0x1p-53;
}

static float* make_pebble(int64_t count) {
    const double pi = 3.14159265358979323846;
    float* points = memory(count, 3 * sizeof(float));
    uint64_t state = 1;
    for (int64_t i = 0; i < count; i++) {
        const double u = random_number(&state), v = random_number(&state);
        const double height = 1 - 2 * u, angle = 2 * pi * v, ring = sqrt(1 - height * height);
        const double radius = 1 + 0.12 * cos(4 * angle) * ring * ring + 0.15 * cos(5 * height);
        points[3 * i] = (float)(1.3 * radius * ring * cos(angle));
        points[3 * i + 1] = (float)(radius * ring * sin(angle));
        points[3 * i + 2] = (float)(radius * height);
    }
    return points;
}

static float* load(sap_device* device, const char* path, int64_t* count) {
    sap_point_set* set = NULL;
    must(sap_points_read(device, path, SAP_FORMAT_AUTO, 32, &set));
    if (set->dims != 3) {
        fprintf(stderr, "film: %s has %d columns; 3 are needed\n", path, (int)set->dims);
        exit(1);
    }
    float* points = memory(set->count, 3 * sizeof(float));
    if (set->count) memcpy(points, set->coords, (size_t)set->count * 3 * sizeof(float));
    *count = set->count;
    sap_point_set_free(set);
    return points;
}

// Draws how far off each point's 16th neighbour is, by the frame and the colours of the first picture.
static void draw(sap_device* device, const float* points, double* densities, float* distances, picture* p,
                 const char* path) {
    sap_tree* tree = NULL;
    must(sap_tree_build(device, (sap_points){points, p->count, 3, 0}, NULL, &tree));
    const sap_density_options density = {.kind = SAP_DENSITY_DISTANCE, .k = NEIGHBOURS};
    must(sap_cloud_density(tree, &density, densities));
    sap_tree_free(tree);
    for (int64_t i = 0; i < p->count; i++) distances[i] = (float)densities[i];
    const bool first = !p->points;
    p->points = points;
    p->distances = distances;
    if (first) picture_choose_view(p);
    if ((first && !picture_choose_scale(p)) || !picture_write(p, path)) {
        fprintf(stderr, "film: cannot write %s\n", path);
        exit(1);
    }
}

int main(int argc, char** argv) {
    const int frames = argc > 2 ? atoi(argv[2]) : 0;
    const bool cuda = argc == 5 && !strcmp(argv[4], "--cuda");
    if ((argc != 4 && !cuda) || frames < 1 || frames > 1000) {
        fprintf(stderr,
                "usage: film POINTS FRAMES NAME [--cuda]\nPOINTS: a file, or how many to make; FRAMES: 1 to 1000\n");
        return 2;
    }
    sap_device *device = NULL, *host = NULL;
    must(sap_device_open(&(sap_device_options){.processor = SAP_CPU, .log = complain}, &host));
    must(sap_device_open(&(sap_device_options){.processor = cuda ? SAP_CUDA : SAP_CPU, .log = complain}, &device));
    char* end;
    int64_t count = strtoll(argv[1], &end, 10);
    if (!*end && (count < 1 || count > 100000000)) {
        fprintf(stderr, "film: POINTS must be a file, or 1 to 100000000\n");
        return 2;
    }
    float* points = *end ? load(host, argv[1], &count) : make_pebble(count);
    if (count <= NEIGHBOURS) {
        fprintf(stderr, "film: %lld points are too few; more than %d are needed\n", (long long)count, NEIGHBOURS);
        free(points);
        return 1;
    }
    float *moved = memory(count, 3 * sizeof(float)), *distances = memory(count, sizeof(float));
    float* given = memory(count, 3 * sizeof(float));
    memcpy(given, points, (size_t)count * 3 * sizeof(float));
    picture p = {.count = count, .dims = 3, .width = WIDTH, .framed = given};
    double* densities = memory(count, sizeof(double));
    double relaxing = 0;
    for (int frame = 0; frame < frames; frame++) {
        char path[4096];
        snprintf(path, sizeof path, "%s-%03d.png", argv[3], frame);
        draw(host, points, densities, distances, &p, path);
        if (frame + 1 == frames) break;
        const double start = seconds();
        must(sap_cloud_relax(device, (sap_points){points, count, 3, 0},
                             &(sap_relax_options){.radius = (double)p.scale[1]}, moved, NULL, NULL));
        relaxing += seconds() - start;
        float* before = points;
        points = moved;
        moved = before;
    }
    printf("%lld points, %d pictures, %.3g s a step\n", (long long)count, frames,
           frames > 1 ? relaxing / (frames - 1) : 0.0);
    free(given);
    free(points);
    free(moved);
    free(distances);
    free(densities);
    sap_device_close(device);
    sap_device_close(host);
    return 0;
}
