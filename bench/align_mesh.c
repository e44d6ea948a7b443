// sapwood_align_mesh_bench: points on the surface of a mesh, turned by 5 degrees and shifted by 2 % of the diagonal, are
// aligned with it in 20 steps. Writes the points, the mesh's vertices and its triangles to FOLDER for rivals, and prints a
// line for each work: key, median seconds of a step, the tree and the source's order included, degrees left.
// bench/align_mesh.sh runs it beside Open3D.
#include "turned.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 100000, STEPS = 20 };

typedef struct scan {
    sap_device* device;
    sap_mesh mesh;
    sap_points points;
    bench_turned turned;
    sap_align_options options;
    sap_alignment found;
} scan;

static const float* corner_of(const sap_mesh* mesh, int64_t triangle, int corner) {
    return mesh->vertices + 3 * (int64_t)mesh->triangles[3 * triangle + corner];
}

static double area_of(const sap_mesh* mesh, int64_t triangle) {
    const float *a = corner_of(mesh, triangle, 0), *b = corner_of(mesh, triangle, 1), *c = corner_of(mesh, triangle, 2);
    double u[3], v[3];
    for (int k = 0; k < 3; k++) {
        u[k] = (double)b[k] - (double)a[k];
        v[k] = (double)c[k] - (double)a[k];
    }
    const double x = u[1] * v[2] - u[2] * v[1], y = u[2] * v[0] - u[0] * v[2], z = u[0] * v[1] - u[1] * v[0];
    return sqrt(x * x + y * y + z * z) / 2;
}

// Points in random order, evenly over the surface.
static void scan_surface(scan* s, float* to) {
    const sap_mesh* mesh = &s->mesh;
    double* sums = bench_memory((size_t)mesh->triangle_count, sizeof *sums);
    double total = 0;
    uint64_t state = 12345;
    s->turned = bench_turned_of(mesh->vertices, (int64_t)mesh->vertex_count);
    for (int64_t i = 0; i < mesh->triangle_count; i++) sums[i] = total += area_of(mesh, i);
    for (int64_t i = 0; i < POINTS; i++) {
        const double at = bench_next_unit(&state) * total, root = sqrt(bench_next_unit(&state)),
                     along = bench_next_unit(&state);
        int64_t first = 0, last = mesh->triangle_count - 1;
        while (first < last) {
            const int64_t half = (first + last) / 2;
            if (sums[half] < at)
                first = half + 1;
            else
                last = half;
        }
        double p[3];
        for (int k = 0; k < 3; k++) {
            p[k] = (1 - root) * (double)corner_of(mesh, first, 0)[k] +
                   root * (1 - along) * (double)corner_of(mesh, first, 1)[k] +
                   root * along * (double)corner_of(mesh, first, 2)[k];
        }
        bench_turned_move(&s->turned, p, to + 3 * i);
    }
    s->points = (sap_points){to, POINTS, 3, 0};
    free(sums);
}

static void align(scan* s) {
    sap_mesh_tree* tree = NULL;
    bench_check(sap_mesh_tree_build(s->device, s->mesh, NULL, &tree), "sap_mesh_tree_build");
    bench_check(sap_cloud_align_mesh(tree, s->points, &s->options, &s->found), "sap_cloud_align_mesh");
    sap_mesh_tree_free(tree);
}

int main(int argc, char** argv) {
    static const char* const methods[] = {"point", "plane"};
    if (argc != 5) {
        fprintf(stderr, "usage: sapwood_align_mesh_bench MESH THREADS PASSES FOLDER\n");
        return 2;
    }
    const int threads = bench_whole_number(argv[2], 1, 1024), passes = bench_whole_number(argv[3], 1, BENCH_MAX_REPS);
    scan s = {.device = bench_device(threads, SAP_SIMD_AUTO, NULL)};
    sap_mesh_file* file = NULL;
    bench_check(sap_mesh_read(s.device, argv[1], SAP_FORMAT_AUTO, NULL, &file), "sap_mesh_read");
    s.mesh = file->mesh;
    float* points = bench_memory(POINTS, 3 * sizeof *points);
    scan_surface(&s, points);
    bench_write_words(argv[4], "points.raw", points, 3 * POINTS);
    bench_write_words(argv[4], "vertices.raw", s.mesh.vertices, 3 * (int64_t)s.mesh.vertex_count);
    bench_write_words(argv[4], "triangles.raw", s.mesh.triangles, 3 * (int64_t)s.mesh.triangle_count);
    printf("distance %.9g\n", 0.1 * s.turned.diagonal);
    for (int work = 0; work < 2; work++) {
        double samples[BENCH_MAX_REPS] = {0};
        s.options = (sap_align_options){.method = (sap_align_method)work,
                                        .max_distance = 0.1 * s.turned.diagonal,
                                        .iterations = STEPS,
                                        .tolerance = 1e-300};
        align(&s);
        for (int i = 0; i < passes; i++) {
            const double start = threads == 1 ? bench_cpu_seconds() : bench_seconds();
            align(&s);
            samples[i] = ((threads == 1 ? bench_cpu_seconds() : bench_seconds()) - start) / s.found.iterations;
        }
        printf("%s %.6f %.5f\n", methods[work], bench_middle_of(samples, passes),
               bench_degrees_left(&s.turned, s.found.transform));
    }
    free(points);
    sap_mesh_file_free(file);
    sap_device_close(s.device);
    return 0;
}
