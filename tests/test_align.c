// Alignment: known motions come back from partial, noisy and unevenly sampled clouds; what is said of the pairs is what
// brute force says; the same bits for any threads and vectors; bad input.
#include "allocator.h"
#include "calls.h"
#include "cloud/align.h"
#include "motions.h"
#include "progress_host.h"
#include "ray_oracle.h"
#include "sapwood/align.h"
#include "sapwood/cloud.h"
#include "stage.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { MOST = 6000 };

// A turn by an angle in degrees about the direction 1 2 3, through a center, then a shift.
static void make_motion(double degrees, double center, const double shift[3], double m[16]) {
    const double root = sqrt(14);
    make_turn(degrees, 1 / root, 2 / root, 3 / root, m);
    for (int r = 0; r < 3; r++) m[4 * r + 3] = center - (m[4 * r] + m[4 * r + 1] + m[4 * r + 2]) * center + shift[r];
}

// How far the product of two motions is from none, on the corners of the unit cube times `size`.
static double left_over(const double found[16], const double made[16], double size) {
    double most = 0;
    for (int corner = 0; corner < 8; corner++) {
        double p[3], q[3], r[3], far = 0;
        for (int a = 0; a < 3; a++) p[a] = (corner >> a & 1) * size;
        apply(made, p, q);
        apply(found, q, r);
        for (int a = 0; a < 3; a++) far += (r[a] - p[a]) * (r[a] - p[a]);
        most = sqrt(far) > most ? sqrt(far) : most;
    }
    return most / size;
}

static double gauss(uint64_t* state) {
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += random_unit(state);
    return sum;
}

// A point of a bumpy sheet without symmetries, in the unit cube.
static void sheet(double u, double v, double p[3]) {
    p[0] = u;
    p[1] = v;
    p[2] = 0.5 + 0.2 * sin(5 * u + 0.3) * cos(4 * v) + 0.1 * sin(9 * u * v) + 0.15 * u * u;
}

// Points of the sheet whose u lies from `from` to `to`, denser for small v, with noise, moved and scaled.
static void scan(double* coords, int64_t count, double from, double to, double noise, const double motion[16],
                 double scale, uint64_t seed) {
    uint64_t state = seed;
    for (int64_t i = 0; i < count; i++) {
        double p[3], q[3];
        const double u = from + (to - from) * random_unit(&state), v = random_unit(&state);
        sheet(u, v * (0.5 + 0.5 * v), p);
        for (int a = 0; a < 3; a++) p[a] += noise * gauss(&state);
        apply(motion, p, q);
        for (int a = 0; a < 3; a++) coords[3 * i + a] = q[a] * scale;
    }
}

// Two scans and their tree, in either precision.
typedef struct pair {
    double target[3 * MOST], source[3 * MOST];
    float target_f32[3 * MOST], source_f32[3 * MOST];
    int64_t targets, sources;
    sap_tree *tree, *tree_f64;
} pair;

static pair* pair_new(sap_device* device, int64_t targets, int64_t sources) {
    pair* p = calloc(1, sizeof *p);
    (void)device;
    p->targets = targets;
    p->sources = sources;
    return p;
}

static void pair_build(sap_device* device, pair* p) {
    for (int64_t i = 0; i < 3 * p->targets; i++) p->target_f32[i] = (float)p->target[i];
    for (int64_t i = 0; i < 3 * p->sources; i++) p->source_f32[i] = (float)p->source[i];
    CHECK_STATUS(sap_tree_build(device, (sap_points){p->target_f32, p->targets, 3, 0}, NULL, &p->tree), SAP_OK);
    CHECK_STATUS(sap_tree_build_f64(device, (sap_points_f64){p->target, p->targets, 3, 0}, NULL, &p->tree_f64), SAP_OK);
}

static void pair_free(pair* p) {
    sap_tree_free(p->tree);
    sap_tree_free(p->tree_f64);
    free(p);
}

static sap_status align_pair(const pair* p, int bits, const sap_align_options* o, sap_alignment* found) {
    memset(found, 0x55, sizeof *found);
    return bits == 64 ? sap_cloud_align_f64(p->tree_f64, (sap_points_f64){p->source, p->sources, 3, 0}, o, found)
                      : sap_cloud_align(p->tree, (sap_points){p->source_f32, p->sources, 3, 0}, o, found);
}

static bool all_finite(const sap_alignment* a) {
    bool is = isfinite(a->fitness) && isfinite(a->rmse) && isfinite(a->overlap) && isfinite(a->kernel_scale);
    for (int i = 0; i < 36; i++) is = is && isfinite(a->information[i]) && isfinite(a->directions[i]);
    for (int i = 0; i < 16; i++) is = is && isfinite(a->transform[i]);
    for (int i = 0; i < 6; i++) is = is && isfinite(a->strengths[i]);
    for (int i = 0; i < 3; i++) is = is && isfinite(a->center[i]);
    return is;
}

static sap_device* cpu_open(int32_t threads) {
    const sap_device_options options = {.processor = SAP_CPU, .threads = threads};
    sap_device* device = NULL;
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    return device;
}

// ---- Closed forms

// Points that move by less than half of their distances find their own places in one step.
TEST(points_that_hardly_moved_come_back_exactly) {
    sap_device* device = cpu_open(2);
    pair* p = pair_new(device, 512, 512);
    double motion[16];
    make_motion(0.7, 3.5, (double[]){0.05, -0.04, 0.03}, motion);
    for (int i = 0; i < 512; i++) {
        const double at[3] = {i % 8, i / 8 % 8, i / 64 + 0.1 * (i % 5)};
        memcpy(p->target + 3 * i, at, sizeof at);
        apply(motion, at, p->source + 3 * i);
    }
    pair_build(device, p);
    for (int bits = 32; bits <= 64; bits += 32)
        for (int method = SAP_ALIGN_POINT; method <= SAP_ALIGN_GENERALISED; method++) {
            sap_alignment found;
            const sap_align_options o = {.method = (sap_align_method)method};
            NOTE("%d bits, method %d", bits, method);
            CHECK_STATUS(align_pair(p, bits, &o, &found), SAP_OK);
            CHECK(found.converged && found.reason == SAP_ALIGN_CONVERGED && found.pairs == 512);
            CHECK(method != SAP_ALIGN_POINT || found.iterations == 2);
            CHECK(left_over(found.transform, motion, 8) < (bits == 64 ? 1e-9 : 1e-6));
            CHECK(found.fitness == 1 && found.rmse < (bits == 64 ? 1e-8 : 1e-5));
            CHECK(found.undetermined == 0 && found.strengths[5] == 1 && found.overlap == 1);
        }
    pair_free(p);
    sap_device_close(device);
}

// The information of points is the sum of J^T J; a plane says nothing about sliding in it.
TEST(information_is_that_of_the_pairs) {
    sap_device* device = cpu_open(1);
    pair* p = pair_new(device, 400, 400);
    for (int i = 0; i < 400; i++) {
        const double at[3] = {i % 20, i / 20, 0};
        memcpy(p->target + 3 * i, at, sizeof at);
        memcpy(p->source + 3 * i, at, sizeof at);
    }
    pair_build(device, p);
    sap_alignment found;
    CHECK_STATUS(align_pair(p, 64, NULL, &found), SAP_OK);
    CHECK(found.center[0] == 9.5 && found.center[1] == 9.5 && found.center[2] == 0);
    double squares = 0;
    for (int i = 0; i < 20; i++) squares += 20 * (i - 9.5) * (i - 9.5);
    CHECK(fabs(found.information[0] - squares) < 1e-6 && fabs(found.information[14] - 2 * squares) < 1e-6);
    CHECK(found.information[21] == 400 && found.information[28] == 400 && found.information[35] == 400);
    for (int r = 0; r < 6; r++)
        for (int c = 0; c < 6; c++) CHECK(found.information[6 * r + c] == found.information[6 * c + r]);
    CHECK_EQUAL(found.undetermined, 0);
    CHECK_STATUS(align_pair(p, 64, &(sap_align_options){.method = SAP_ALIGN_PLANE}, &found), SAP_OK);
    CHECK(found.undetermined == 3 && found.converged && !memcmp(found.transform, identity, sizeof identity));
    CHECK(found.strengths[2] == 0 && found.strengths[3] > 0);
    pair_free(p);
    sap_device_close(device);
}

// ---- Known motions

typedef struct recovery {
    const char* name;
    sap_align_options options;
    double error; // of the size, at most
} recovery;

static const recovery recoveries[] = {
    {"points, trimmed", {.method = SAP_ALIGN_POINT, .overlap = 0.6, .iterations = 400}, 0.02},
    {"planes, trimmed", {.method = SAP_ALIGN_PLANE, .overlap = 0.6}, 0.004},
    {"planes, overlap found", {.method = SAP_ALIGN_PLANE, .find_overlap = true}, 0.004},
    {"disks, overlap found", {.method = SAP_ALIGN_GENERALISED, .find_overlap = true}, 0.004},
    {"planes, Tukey", {.method = SAP_ALIGN_PLANE, .kernel = SAP_KERNEL_TUKEY}, 0.01},
    {"planes, Cauchy, one to one", {.method = SAP_ALIGN_PLANE, .kernel = SAP_KERNEL_CAUCHY, .one_to_one = true}, 0.004},
    {"planes, Huber, near", {.method = SAP_ALIGN_PLANE, .kernel = SAP_KERNEL_HUBER, .max_distance = 0.05}, 0.006},
    {"disks, angles", {.method = SAP_ALIGN_GENERALISED, .max_angle = 0.4, .overlap = 0.6}, 0.004},
    {"disks, coarse to fine", {.method = SAP_ALIGN_GENERALISED, .find_overlap = true, .levels = 3}, 0.004},
};

// 5 degrees and 0.03 of the size away, 60 % of each scan in the other, noise of a fifth of the spacing; in units from
// 1e-6 to 1e7.
TEST(known_motions_come_back_at_any_scale) {
    static const double scales[] = {1, 1e-6, 1e7};
    sap_device* device = cpu_open(2);
    double motion[16];
    make_motion(5, 0.5, (double[]){0.02, -0.015, 0.015}, motion);
    for (int s = 0; s < 3; s++) {
        pair* p = pair_new(device, 6000, 5000);
        scan(p->target, p->targets, 0, 0.77, 0.002, identity, scales[s], 11);
        scan(p->source, p->sources, 0.23, 1, 0.002, motion, scales[s], 12);
        pair_build(device, p);
        for (size_t r = 0; r < sizeof recoveries / sizeof *recoveries; r++)
            for (int bits = 32; bits <= 64; bits += 32) {
                sap_alignment found;
                sap_align_options o = recoveries[r].options;
                double made[16];
                o.max_distance *= scales[s];
                memcpy(made, motion, sizeof made);
                for (int a = 0; a < 3; a++) made[4 * a + 3] *= scales[s];
                NOTE("%s, %d bits, scale %g", recoveries[r].name, bits, scales[s]);
                CHECK_STATUS(align_pair(p, bits, &o, &found), SAP_OK);
                const double error = left_over(found.transform, made, scales[s]);
                NOTE("%s, %d bits, scale %g: error %g, %d steps", recoveries[r].name, bits, scales[s], error,
                     (int)found.iterations);
                CHECK(error < recoveries[r].error);
                CHECK(found.reason != SAP_ALIGN_NO_PAIRS && all_finite(&found));
            }
        pair_free(p);
    }
    sap_device_close(device);
}

// The start may be far away: 40 degrees, given within 5.
TEST(a_start_is_taken) {
    sap_device* device = cpu_open(2);
    pair* p = pair_new(device, 4000, 3000);
    double motion[16], back[16];
    make_motion(40, 0.5, (double[]){0.4, -0.2, 0.1}, motion);
    make_motion(-37, 0.5, (double[]){0, 0, 0}, back);
    scan(p->target, p->targets, 0, 1, 0.001, identity, 1, 21);
    scan(p->source, p->sources, 0, 1, 0.001, motion, 1, 22);
    pair_build(device, p);
    sap_align_options o = {.method = SAP_ALIGN_PLANE, .overlap = 0.9};
    // Where the middle of the source comes from: the start takes it back.
    double at[3], come[3];
    apply(motion, (double[]){0.5, 0.5, 0.5}, at);
    memcpy(o.start, back, sizeof back);
    for (int a = 0; a < 3; a++) o.start[4 * a + 3] = 0;
    apply(o.start, at, come);
    for (int a = 0; a < 3; a++) o.start[4 * a + 3] = 0.5 - come[a];
    sap_alignment found;
    CHECK_STATUS(align_pair(p, 64, &o, &found), SAP_OK);
    CHECK(found.converged && left_over(found.transform, motion, 1) < 0.003);
    pair_free(p);
    sap_device_close(device);
}

// ---- Pairs and sums

// What is reported of the pairs is what brute force finds at the transform.
TEST(pairs_are_those_of_brute_force) {
    sap_device* device = cpu_open(2);
    double motion[16];
    make_motion(4, 0.5, (double[]){0.02, 0.01, 0}, motion);
    pair* p = pair_new(device, 1500, 1200);
    scan(p->target, p->targets, 0, 0.8, 0.003, identity, 1, 31);
    scan(p->source, p->sources, 0.2, 1, 0.003, motion, 1, 32);
    pair_build(device, p);
    for (int steps = 1; steps <= 40; steps += 3) {
        sap_alignment found;
        const sap_align_options o = {.iterations = steps, .max_distance = 0.06};
        int64_t pairs = 0;
        double squares = 0;
        CHECK_STATUS(align_pair(p, 64, &o, &found), SAP_OK);
        for (int64_t i = 0; i < p->sources; i++) {
            double at[3], least = (double)INFINITY;
            apply(found.transform, p->source + 3 * i, at);
            for (int64_t j = 0; j < p->targets; j++) {
                double d = 0;
                for (int a = 0; a < 3; a++) d += (at[a] - p->target[3 * j + a]) * (at[a] - p->target[3 * j + a]);
                least = d < least ? d : least;
            }
            if (least > 0.06 * 0.06) continue;
            pairs++;
            squares += least;
        }
        NOTE("%d steps", steps);
        CHECK_EQUAL(found.pairs, pairs);
        CHECK(fabs(found.rmse - sqrt(squares / (double)pairs)) < 1e-12);
        CHECK(found.fitness == (double)pairs / (double)p->sources);
    }
    pair_free(p);
    sap_device_close(device);
}

// Of several points with one nearest point the nearest counts, and of equal ones the first.
TEST(one_to_one_pairs_are_the_nearest) {
    sap_device* device = cpu_open(1);
    pair* p = pair_new(device, 3, 5);
    const double target[9] = {0, 0, 0, 10, 0, 0, 0, 10, 0};
    const double source[15] = {0.2, 0, 0, 0.1, 0, 0, 10, 0.1, 0, 10, -0.1, 0, 0, 10, 0};
    memcpy(p->target, target, sizeof target);
    memcpy(p->source, source, sizeof source);
    pair_build(device, p);
    sap_alignment found;
    CHECK_STATUS(align_pair(p, 32, &(sap_align_options){.one_to_one = true, .tolerance = 1}, &found), SAP_OK);
    CHECK(found.pairs == 3 && found.fitness == 0.6);
    pair_free(p);
    sap_device_close(device);
}

// Two points that are as far from one place, but for the last bits of doubles: the nearer one is not the first.
TEST(one_to_one_pairs_are_told_apart_by_doubles) {
    sap_device* device = cpu_open(1);
    pair* p = pair_new(device, 7, 8);
    const double target[21] = {10, 0, 0, -10, 0, 0, 0, 10, 0, 0, -10, 0, 0, 0, 10, 0, 0, -10, 0, 0, 0};
    const double sources[6] = {0.1 * (1 + 1e-10), 0, 0, 0, 0.1, 0};
    memcpy(p->target, target, sizeof target);
    memcpy(p->source, target, 18 * sizeof(double));
    memcpy(p->source + 18, sources, sizeof sources);
    pair_build(device, p);
    sap_alignment found;
    CHECK_STATUS(align_pair(p, 64, &(sap_align_options){.one_to_one = true, .iterations = 1}, &found), SAP_OK);
    CHECK(found.pairs == 7 && fabs(found.transform[3]) < 1e-6 && fabs(found.transform[7] + 0.1 / 7) < 1e-6);
    pair_free(p);
    sap_device_close(device);
}

TEST(results_are_the_same_bits_everywhere) {
    static const int threads[] = {1, 2, 5};
    double motion[16];
    make_motion(5, 0.5, (double[]){0.02, -0.015, 0.015}, motion);
    for (size_t r = 0; r < sizeof recoveries / sizeof *recoveries; r += 1 + TEST_SLOW)
        for (int bits = 32; bits <= 64; bits += 32) {
            sap_alignment first;
            bool is_first = true;
            for (int t = 0; t < 3; t++) {
                devices all = devices_open(threads[t]);
                for (int d = 0; d < all.count; d++) {
                    if (t > 0 && is_gpu(all.open[d])) continue;
                    pair* p = pair_new(all.open[d], 3001, 2500);
                    sap_alignment found;
                    sap_align_options o = recoveries[r].options;
                    o.iterations = 12;
                    scan(p->target, p->targets, 0, 0.77, 0.002, identity, 1, 11);
                    scan(p->source, p->sources, 0.23, 1, 0.002, motion, 1, 12);
                    pair_build(all.open[d], p);
                    NOTE("%s, %d bits, %d threads, device %d", recoveries[r].name, bits, threads[t], d);
                    CHECK_STATUS(align_pair(p, bits, &o, &found), SAP_OK);
                    if (is_first) first = found;
                    is_first = false;
                    CHECK(!memcmp(found.transform, first.transform, sizeof first.transform));
                    CHECK(!memcmp(found.information, first.information, sizeof first.information));
                    CHECK(!memcmp(found.directions, first.directions, sizeof first.directions));
                    CHECK(found.rmse == first.rmse && found.pairs == first.pairs && found.overlap == first.overlap &&
                          found.kernel_scale == first.kernel_scale && found.iterations == first.iterations);
                    pair_free(p);
                }
                devices_close(&all);
            }
        }
}

// ---- Meshes

TEST(points_of_a_mesh_come_back_to_it) {
    enum { SIDE = 30 };
    static float vertices[3 * SIDE * SIDE];
    static int32_t triangles[6 * (SIDE - 1) * (SIDE - 1)];
    sap_device* device = cpu_open(2);
    sap_mesh_tree* mesh = NULL;
    int32_t* corner = triangles;
    for (int i = 0; i < SIDE * SIDE; i++) {
        double at[3];
        sheet((double)(i % SIDE) / (SIDE - 1), (double)(i / SIDE) / (SIDE - 1), at);
        for (int a = 0; a < 3; a++) vertices[3 * i + a] = (float)at[a];
    }
    for (int y = 0; y + 1 < SIDE; y++)
        for (int x = 0; x + 1 < SIDE; x++) {
            const int32_t i = y * SIDE + x, both[6] = {i, i + 1, i + SIDE, i + 1, i + SIDE + 1, i + SIDE};
            memcpy(corner, both, sizeof both);
            corner += 6;
        }
    const sap_mesh given = {.vertices = vertices,
                            .vertex_count = SIDE * SIDE,
                            .triangles = triangles,
                            .triangle_count = 2 * (SIDE - 1) * (SIDE - 1)};
    CHECK_STATUS(sap_mesh_tree_build(device, given, NULL, &mesh), SAP_OK);
    double motion[16];
    make_motion(4, 0.5, (double[]){0.02, -0.02, 0.02}, motion);
    float* source = malloc(3 * 2000 * sizeof *source);
    uint64_t state = 9;
    for (int i = 0; i < 2000; i++) {
        const int32_t* t = triangles + 3 * random_below(&state, given.triangle_count);
        double u = random_unit(&state), v = random_unit(&state), at[3], come[3];
        if (u + v > 1) u = 1 - u, v = 1 - v;
        for (int a = 0; a < 3; a++)
            at[a] = (double)vertices[3 * t[0] + a] * (1 - u - v) + (double)vertices[3 * t[1] + a] * u +
                    (double)vertices[3 * t[2] + a] * v;
        apply(motion, at, come);
        for (int a = 0; a < 3; a++) source[3 * i + a] = (float)come[a];
    }
    for (int method = SAP_ALIGN_POINT; method <= SAP_ALIGN_GENERALISED; method++) {
        sap_alignment found;
        const sap_align_options o = {
            .method = (sap_align_method)method, .iterations = 2000, .tolerance = 1e-9, .one_to_one = false};
        NOTE("method %d", method);
        CHECK_STATUS(sap_cloud_align_mesh(mesh, (sap_points){source, 2000, 3, 0}, &o, &found), SAP_OK);
        NOTE("method %d: error %g, %d steps", method, left_over(found.transform, motion, 1), (int)found.iterations);
        CHECK(left_over(found.transform, motion, 1) < (method == SAP_ALIGN_POINT ? 1e-3 : 1e-5));
        CHECK(found.pairs == 2000 && all_finite(&found));
    }
    free(source);
    sap_mesh_tree_free(mesh);
    sap_device_close(device);
}

enum { FOLLOWED = 1500 };
static int64_t poses_followed;

// Whether all points have what a plain search finds at the pose.
static void check_pairs(const sap_aligning* a) {
    static float queries[3 * FOLLOWED];
    static sap_closest plain[FOLLOWED];
    const sap_align_points* s = &a->points;
    CHECK(s->count == FOLLOWED);
    for (int64_t i = 0; i < s->count; i++)
        for (int r = 0; r < 3; r++) {
            const double* turn = a->pose.turn + (ptrdiff_t)3 * r;
            const double turned = turn[0] * s->own[0][i] + turn[1] * s->own[1][i] + turn[2] * s->own[2][i];
            queries[3 * i + r] = (float)(turned + a->pose.middle[r]);
        }
    CHECK_STATUS(sap_closest_point(a->job->mesh, (sap_points){queries, FOLLOWED, 3, 0}, plain), SAP_OK);
    for (int64_t i = 0; i < s->count; i++) {
        NOTE("pose %lld, place %lld: %d, not %d", (long long)poses_followed, (long long)i, s->pairs[i],
             plain[i].triangle);
        CHECK(s->pairs[i] == plain[i].triangle);
        for (int c = 0; c < 3; c++) CHECK(((const float*)s->other[c])[i] == plain[i].point[c]);
    }
    poses_followed++;
}

// Follows the points through poses: short ways, long ones, none, and back.
static sap_status match_and_follow(sap_aligning* a, int64_t count) {
    static const double ways[] = {0, 1e-9, 1e-7, 1e-5, 1e-5, 0, 1e-3, 1e-3, 1e-7, 0.1, 1e-4, 3, 1e-6, 0};
    const sap_pose pose = a->pose;
    uint64_t state = 3;
    sap_status status = sap_align_ops_cpu.match(a, count);
    check_pairs(a);
    for (size_t i = 0; status == SAP_OK && i <= sizeof ways / sizeof *ways; i++) {
        if (i < sizeof ways / sizeof *ways) {
            double by[3], turn[9];
            for (int c = 0; c < 3; c++) by[c] = ways[i] * (random_unit(&state) - 0.5);
            sap_turn_of_vector(by, turn);
            sap_turn_further(a->pose.turn, turn);
            for (int c = 0; c < 3; c++) a->pose.middle[c] += ways[i] * (random_unit(&state) - 0.5);
        } else {
            a->pose = pose;
        }
        status = sap_align_ops_cpu.match(a, count);
        check_pairs(a);
    }
    return status;
}

// In steps of any length each point has the triangle that a plain search finds: of meshes whose triangles share edges,
// lie upon each other, are needles or have no area, with every instruction set.
TEST(points_are_followed_over_meshes) {
    static float source[3 * FOLLOWED];
    static const int threads[] = {1, 2, 3};
    for (int simd = SAP_SIMD_PORTABLE; simd <= SAP_SIMD_AVX512; simd++)
        for (int kind = RAY_MESH_ONE; kind < RAY_MESH_FAR; kind++) {
            const sap_device_options options = {
                .processor = SAP_CPU, .simd = (sap_simd)simd, .threads = threads[kind % 3]};
            sap_device* device = NULL;
            if (sap_device_open(&options, &device) != SAP_OK) continue;
            scene_mesh mesh = ray_mesh_of((ray_mesh)kind, 300);
            sap_mesh_tree* tree = ray_tree(device, &mesh.mesh, SAP_QUALITY_HIGH);
            uint64_t state = 12;
            CHECK(tree != NULL);
            for (int64_t i = 0; i < FOLLOWED; i++) {
                const float* at = mesh.mesh.vertices + 3 * random_below(&state, mesh.mesh.vertex_count);
                const float* to = mesh.mesh.vertices + 3 * random_below(&state, mesh.mesh.vertex_count);
                const float part = i % 2 ? 0 : 0.05f * (float)random_unit(&state);
                for (int c = 0; c < 3; c++) source[3 * i + c] = at[c] + (to[c] - at[c]) * part;
            }
            sap_align_ops ops = sap_align_ops_cpu;
            ops.match = match_and_follow;
            sap_align_job job = {.mesh = tree,
                                 .device = device,
                                 .source = {source, FOLLOWED, 3, 3, 32},
                                 .options = {.iterations = 2,
                                             .levels = 1,
                                             .tolerance = 1e-300,
                                             .overlap = 1,
                                             .flatness = 1e-3,
                                             .normals_k = 16,
                                             .max_distance = (double)INFINITY},
                                 .start = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
            NOTE("instruction set %d, family %d", simd, kind);
            poses_followed = 0;
            CHECK_STATUS(sap_align_run(&job, &ops, NULL), SAP_OK);
            CHECK(poses_followed >= 16);
            sap_mesh_tree_free(tree);
            scene_mesh_free(&mesh);
            sap_device_close(device);
        }
}

// ---- Awkward input

static sap_alignment align_few(sap_device* device, const float* target, int64_t targets, const float* source,
                               int64_t sources, const sap_align_options* o) {
    sap_tree* tree = NULL;
    sap_alignment found;
    memset(&found, 0x55, sizeof found);
    CHECK_STATUS(sap_tree_build(device, (sap_points){target, targets, 3, 0}, NULL, &tree), SAP_OK);
    CHECK_STATUS(sap_cloud_align(tree, (sap_points){source, sources, 3, 0}, o, &found), SAP_OK);
    CHECK(all_finite(&found));
    sap_tree_free(tree);
    return found;
}

TEST(clouds_that_say_nothing_give_a_result_that_says_so) {
    static const float one[3] = {3, 4, 5}, line[12] = {0, 0, 0, 1, 1, 1, 2, 2, 2, 5, 5, 5};
    static float equal[3 * 3000];
    const double one_there[3] = {1, 2, 3};
    sap_device* device = cpu_open(2);
    for (int i = 0; i < 9000; i++) equal[i] = (float)one_there[i % 3];
    for (int method = SAP_ALIGN_POINT; method <= SAP_ALIGN_GENERALISED; method++) {
        sap_align_options o = {.method = (sap_align_method)method};
        NOTE("method %d", method);
        // Nothing there.
        sap_alignment a = align_few(device, line, 4, NULL, 0, &o);
        CHECK(a.reason == SAP_ALIGN_NO_PAIRS && !a.converged && a.fitness == 0 && a.undetermined == 6);
        CHECK(!memcmp(a.transform, identity, sizeof identity));
        a = align_few(device, NULL, 0, line, 4, &o);
        CHECK(a.reason == SAP_ALIGN_NO_PAIRS && !memcmp(a.transform, identity, sizeof identity));
        // Too far away: the start comes back.
        o.max_distance = 0.5;
        make_motion(90, 0, (double[]){50, 0, 0}, o.start);
        a = align_few(device, line, 4, equal, 3000, &o);
        CHECK(a.reason == SAP_ALIGN_NO_PAIRS && a.pairs == 0 && a.rmse == 0 && !a.converged);
        for (int i = 0; i < 16; i++) CHECK(fabs(a.transform[i] - o.start[i]) < 1e-15);
        o = (sap_align_options){.method = (sap_align_method)method};
        // Points alone have no normals, so there are no planes to come to.
        const bool has_planes = method == SAP_ALIGN_PLANE;
        a = align_few(device, one, 1, equal, 1, &o);
        CHECK(has_planes ? a.reason == SAP_ALIGN_NO_PAIRS : a.converged && a.undetermined == 3 && a.rmse < 1e-6);
        CHECK(has_planes || (a.transform[3] == 2 && a.transform[7] == 2 && a.transform[11] == 2));
        a = align_few(device, equal, 3000, equal, 3000, &o);
        CHECK(has_planes ? a.reason == SAP_ALIGN_NO_PAIRS : a.converged && a.rmse == 0);
        a = align_few(device, line, 4, line, 4, &o);
        CHECK(has_planes ? a.reason == SAP_ALIGN_NO_PAIRS : a.converged && a.undetermined == 1);
        CHECK(!memcmp(a.transform, identity, sizeof identity));
        a = align_few(device, line, 2, line, 4, &o);
        CHECK(has_planes || a.undetermined >= 1);
    }
    sap_device_close(device);
}

// At the ends of what options may be, clouds that lie on each other stay, and every pair counts.
TEST(the_smallest_angle_and_balls_for_disks) {
    static const sap_align_options cases[] = {{.method = SAP_ALIGN_GENERALISED, .flatness = 1},
                                              {.method = SAP_ALIGN_PLANE, .max_angle = 1e-9},
                                              {.method = SAP_ALIGN_GENERALISED, .flatness = 1, .max_angle = 1e-5}};
    sap_device* device = cpu_open(2);
    pair* p = pair_new(device, 2000, 2000);
    scan(p->target, 2000, 0, 1, 0, identity, 1, 5);
    memcpy(p->source, p->target, 2000 * 3 * sizeof *p->source);
    pair_build(device, p);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        sap_alignment a;
        NOTE("case %zu", c);
        CHECK_STATUS(align_pair(p, 32, &cases[c], &a), SAP_OK);
        CHECK(all_finite(&a) && a.converged && a.rmse == 0 && a.undetermined == 0);
        CHECK(a.pairs > 1990); // but for points without a normal
    }
    pair_free(p);
    sap_device_close(device);
}

// A scale whose square underflows must not make pairs that fit exactly weigh 0/0.
TEST(kernels_of_clouds_whose_squares_underflow) {
    enum { COUNT = 200 };
    sap_device* device = cpu_open(1);
    double points[3 * COUNT];
    for (int i = 0; i < 3 * COUNT; i++) points[i] = (i * 7919 % 1000) * 1e-158;
    const sap_points_f64 source = {points, COUNT, 3, 0};
    sap_tree* tree = NULL;
    CHECK_STATUS(sap_tree_build_f64(device, source, NULL, &tree), SAP_OK);
    for (int i = 0; i < 8; i++) {
        const sap_align_options o = {.kernel = (sap_align_kernel)(i / 2), .kernel_scale = i % 2 ? 1e-165 : 0};
        sap_alignment found;
        NOTE("kernel %d, scale %g", i / 2, o.kernel_scale);
        CHECK_STATUS(sap_cloud_align_f64(tree, source, &o, &found), SAP_OK);
        CHECK(found.converged && found.fitness == 1);
    }
    sap_tree_free(tree);
    sap_device_close(device);
}

// A mirror is no motion: the result is the best turn, never a mirror.
TEST(mirrored_clouds_are_not_mirrored_back) {
    sap_device* device = cpu_open(2);
    pair* p = pair_new(device, 2000, 2000);
    scan(p->target, 2000, 0, 1, 0, identity, 1, 5);
    for (int i = 0; i < 6000; i++) p->source[i] = i % 3 == 0 ? -p->target[i] : p->target[i];
    pair_build(device, p);
    for (int method = SAP_ALIGN_POINT; method <= SAP_ALIGN_GENERALISED; method++) {
        sap_alignment a;
        CHECK_STATUS(align_pair(p, 32, &(sap_align_options){.method = (sap_align_method)method}, &a), SAP_OK);
        const double* m = a.transform;
        const double determinant = m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) +
                                   m[2] * (m[4] * m[9] - m[5] * m[8]);
        CHECK(fabs(determinant - 1) < 1e-12 && all_finite(&a));
    }
    pair_free(p);
    sap_device_close(device);
}

TEST(points_that_are_not_finite_are_refused_or_left_out) {
    stage s;
    open_stage(&s);
    sap_alignment found = {.pairs = -5};
    s.coords[4] = (float)NAN;
    REFUSED(sap_cloud_align(s.tree, (sap_points){s.coords, 10, 3, 0}, NULL, &found), SAP_ERROR_NOT_FINITE, "1");
    CHECK_EQUAL(found.pairs, -5);
    CHECK_STATUS(
        sap_cloud_align(s.tree, (sap_points){s.coords, 10, 3, 0}, &(sap_align_options){.drop_nonfinite = true}, &found),
        SAP_OK);
    CHECK(found.pairs == 9 && found.fitness == 1 && found.converged && found.rmse == 0);
    close_stage(&s);
}

TEST(bad_arguments_are_refused) {
    stage s;
    open_stage(&s);
    sap_alignment found;
    const sap_points source = {s.coords, 10, 3, 0};
    const float normals[30] = {[7] = INFINITY};
    CHECK_STATUS(sap_cloud_align(NULL, source, NULL, &found), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cloud_align_f64(NULL, (sap_points_f64){s.coords_f64, 10, 3, 0}, NULL, &found), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cloud_align_mesh(NULL, source, NULL, &found), SAP_ERROR_ARGUMENT);
    REFUSED(sap_cloud_align(s.tree, source, NULL, NULL), SAP_ERROR_ARGUMENT, "alignment");
    REFUSED(sap_cloud_align(s.tree, (sap_points){s.coords, 10, 2, 0}, NULL, &found), SAP_ERROR_ARGUMENT, "source");
    REFUSED(sap_cloud_align(s.tree, (sap_points){NULL, 10, 3, 0}, NULL, &found), SAP_ERROR_ARGUMENT, "source");
    REFUSED(sap_cloud_align(s.tree, (sap_points){s.coords, -1, 3, 0}, NULL, &found), SAP_ERROR_ARGUMENT, "source");
    REFUSED(sap_cloud_align(s.tree, (sap_points){s.coords, 10, 3, 2}, NULL, &found), SAP_ERROR_ARGUMENT,
            "source.stride");
    REFUSED(sap_cloud_align(s.tree, (sap_points){s.coords, 10, 3, INT64_MAX / 4}, NULL, &found), SAP_ERROR_RANGE,
            "source.stride");
    REFUSED(sap_cloud_align(s.tree_f64, source, NULL, &found), SAP_ERROR_ARGUMENT, "precision");
#define REFUSED_OPTION(word, ...)                                                                                      \
    REFUSED(sap_cloud_align(s.tree, source, &(sap_align_options){__VA_ARGS__}, &found), SAP_ERROR_ARGUMENT,            \
            "options." word)
    REFUSED_OPTION("method", .method = (sap_align_method)3);
    REFUSED_OPTION("kernel", .kernel = (sap_align_kernel)4);
    REFUSED_OPTION("iterations", .iterations = -1);
    REFUSED_OPTION("levels", .levels = 9);
    REFUSED_OPTION("tolerance", .tolerance = -0.1);
    REFUSED_OPTION("tolerance", .tolerance = (double)NAN);
    REFUSED_OPTION("max_distance", .max_distance = -1);
    REFUSED_OPTION("overlap", .overlap = 1.5);
    REFUSED_OPTION("overlap", .overlap = 0.5, .find_overlap = true);
    REFUSED_OPTION("max_angle", .max_angle = 2);
    REFUSED_OPTION("kernel_scale", .kernel_scale = (double)NAN);
    REFUSED_OPTION("flatness", .flatness = 2);
    REFUSED_OPTION("normals_k", .normals_k = 2);
    REFUSED_OPTION("reserved", .reserved = {1});
    REFUSED_OPTION("start", .start = {[0] = (double)NAN});
    REFUSED_OPTION("start", .start = {2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1});
    REFUSED_OPTION("start", .start = {-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});
    REFUSED_OPTION("start", .start = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2});
    REFUSED(sap_cloud_align(s.tree, source, &(sap_align_options){.source_normals = normals}, &found),
            SAP_ERROR_NOT_FINITE, "point 2");
    close_stage(&s);
}

TEST(points_are_moved) {
    double motion[16], bad[16];
    float from[8] = {1, 2, 3, 9, -4, 5, 6, 9}, to[6];
    make_motion(30, 1, (double[]){1, 2, 3}, motion);
    CHECK_STATUS(sap_transform_points(motion, (sap_points){from, 2, 3, 4}, to), SAP_OK);
    for (int i = 0; i < 2; i++) {
        double at[3];
        apply(motion, (double[]){(double)from[4 * i], (double)from[4 * i + 1], (double)from[4 * i + 2]}, at);
        for (int a = 0; a < 3; a++) CHECK(to[3 * i + a] == (float)at[a]);
    }
    const double wide[8] = {1, 2, 3, 9, 0.1, 1e9, -1e-9, 9};
    double moved[6];
    CHECK_STATUS(sap_transform_points_f64(motion, (sap_points_f64){wide, 2, 3, 4}, moved), SAP_OK);
    for (int i = 0; i < 2; i++) {
        double at[3];
        apply(motion, wide + 4 * i, at);
        for (int a = 0; a < 3; a++) CHECK(moved[3 * i + a] == at[a]);
    }
    CHECK_STATUS(sap_transform_points_f64(motion, (sap_points_f64){wide, 2, 2, 4}, moved), SAP_ERROR_ARGUMENT);
    memcpy(bad, motion, sizeof bad);
    bad[5] = (double)NAN;
    CHECK_STATUS(sap_transform_points(bad, (sap_points){from, 2, 3, 4}, to), SAP_ERROR_NOT_FINITE);
    CHECK_STATUS(sap_transform_points(NULL, (sap_points){from, 2, 3, 4}, to), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_transform_points(motion, (sap_points){from, 2, 2, 4}, to), SAP_ERROR_ARGUMENT);
    memcpy(bad, motion, sizeof bad);
    bad[12] = 1;
    CHECK_STATUS(sap_transform_points(bad, (sap_points){from, 2, 3, 4}, to), SAP_ERROR_ARGUMENT);
}

TEST(progress_cancels) {
    pair* p = pair_new(NULL, 5000, 5000);
    progress_host host = {0};
    sap_device* device = NULL;
    sap_alignment found;
    double motion[16];
    const sap_device_options options = {.processor = SAP_CPU, .progress = progress_host_report, .progress_user = &host};
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    make_motion(5, 0.5, (double[]){0.02, 0, 0}, motion);
    scan(p->target, p->targets, 0, 1, 0.002, identity, 1, 41);
    scan(p->source, p->sources, 0, 1, 0.002, motion, 1, 42);
    host = (progress_host){0};
    for (int64_t i = 0; i < 15000; i++) p->target_f32[i] = (float)p->target[i], p->source_f32[i] = (float)p->source[i];
    CHECK_STATUS(sap_tree_build(device, (sap_points){p->target_f32, 5000, 3, 0}, NULL, &p->tree), SAP_OK);
    host = (progress_host){0};
    CHECK_STATUS(align_pair(p, 32, &(sap_align_options){.method = SAP_ALIGN_GENERALISED}, &found), SAP_OK);
    CHECK(host.last == 1 && host.reports > 2);
    host = (progress_host){.stop_at = 2};
    CHECK_STATUS(align_pair(p, 32, &(sap_align_options){.levels = 2}, &found), SAP_ERROR_CANCELLED);
    CHECK_EQUAL(host.reports, 2);
    pair_free(p);
    sap_device_close(device);
}

TEST_MAIN()
