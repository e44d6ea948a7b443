// Features of points, and alignment without a start: features are those of a plain loop; motions of any size come back from
// partial, noisy clouds in any unit; clouds that do not overlap say so; the same bits everywhere; bad input.
#include "allocator.h"
#include "calls.h"
#include "motions.h"
#include "progress_host.h"
#include "sapwood/align.h"
#include "sapwood/cloud.h"
#include "stage.h"
#include <math.h>
#include <stdlib.h>

enum { POINTS = 5000, BUMPS = 24, NUMBERS = SAP_FEATURE_NUMBERS };

static sap_device* cpu_open(int32_t threads) {
    const sap_device_options options = {.processor = SAP_CPU, .threads = threads};
    sap_device* device = NULL;
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    return device;
}

static double gauss(uint64_t* state) {
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += random_unit(state);
    return sum;
}

// A turn by an angle in degrees about the direction 1 -2 2, then a shift.
static void make_motion(double degrees, double shift, double m[16]) {
    make_turn(degrees, 1 / 3.0, -2 / 3.0, 2 / 3.0, m);
    for (int r = 0; r < 3; r++) m[4 * r + 3] = shift * (r + 1);
}

// How far one motion after another moves a corner of the unit cube, at most.
static double left_over(const double found[16], const double made[16]) {
    double most = 0;
    for (int corner = 0; corner < 8; corner++) {
        double p[3], q[3], r[3], far = 0;
        for (int a = 0; a < 3; a++) p[a] = corner >> a & 1;
        apply(made, p, q);
        apply(found, q, r);
        for (int a = 0; a < 3; a++) far += (r[a] - p[a]) * (r[a] - p[a]);
        most = fmax(most, sqrt(far));
    }
    return most;
}

// Hills and hollows of different sizes on the unit square; those of another seed are another land.
static double height(double x, double y, uint64_t seed) {
    uint64_t state = seed;
    double z = 0;
    for (int i = 0; i < BUMPS; i++) {
        const double u = random_unit(&state), v = random_unit(&state), size = 0.03 + 0.08 * random_unit(&state);
        const double far2 = ((x - u) * (x - u) + (y - v) * (y - v)) / (size * size);
        z += (i % 3 ? 1 : -1) * size / ((1 + far2) * (1 + far2));
    }
    return z;
}

// A scan of the land whose x lies from `from` to `to`, moved, in units of 1 / scale.
static void scan(double* coords, double from, double to, double noise, uint64_t land, const double motion[16],
                 double scale, uint64_t seed) {
    uint64_t state = seed;
    for (int64_t i = 0; i < POINTS; i++) {
        double q[3], p[3] = {from + (to - from) * random_unit(&state), random_unit(&state), 0};
        p[2] = height(p[0], p[1], land);
        for (int a = 0; a < 3; a++) p[a] += noise * gauss(&state);
        apply(motion, p, q);
        for (int a = 0; a < 3; a++) coords[3 * i + a] = q[a] * scale;
    }
}

typedef struct scans {
    double target[3 * POINTS], source[3 * POINTS];
    float target_f32[3 * POINTS], source_f32[3 * POINTS];
    sap_tree *tree, *tree_f64;
} scans;

// Two scans of a land of which each misses a third; the source is moved.
static scans* scans_new(sap_device* device, const double motion[16], double scale, uint64_t land_of_source) {
    scans* s = calloc(1, sizeof *s);
    scan(s->target, 0, 0.7, 0.001, 5, identity, scale, 21);
    scan(s->source, 0.3, 1, 0.001, land_of_source, motion, scale, 22);
    for (int64_t i = 0; i < 3L * POINTS; i++) {
        s->target_f32[i] = (float)s->target[i];
        s->source_f32[i] = (float)s->source[i];
    }
    CHECK_STATUS(sap_tree_build(device, (sap_points){s->target_f32, POINTS, 3, 0}, NULL, &s->tree), SAP_OK);
    CHECK_STATUS(sap_tree_build_f64(device, (sap_points_f64){s->target, POINTS, 3, 0}, NULL, &s->tree_f64), SAP_OK);
    return s;
}

static void scans_free(scans* s) {
    sap_tree_free(s->tree);
    sap_tree_free(s->tree_f64);
    free(s);
}

static sap_status align_scans(const scans* s, int bits, const sap_global_options* o, sap_global_motion* found) {
    memset(found, 0x55, sizeof *found);
    return bits == 64 ? sap_cloud_align_global_f64(s->tree_f64, (sap_points_f64){s->source, POINTS, 3, 0}, o, found)
                      : sap_cloud_align_global(s->tree, (sap_points){s->source_f32, POINTS, 3, 0}, o, found);
}

// ---- Features

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// The bin of a pair in each histogram, by the definition, with the library's arc tangent.
static bool oracle_bins(const float* p, const float* q, const float* n, const float* m, int bins[3]) {
    double d[3], u[3], v[3], w[3], t[3], length = 0;
    for (int c = 0; c < 3; c++) {
        d[c] = (double)q[c] - (double)p[c];
        u[c] = (double)n[c];
        t[c] = (double)m[c];
    }
    length = sqrt(dot(d, d));
    if (fabs(dot(t, d)) > fabs(dot(u, d)))
        for (int c = 0; c < 3; c++) {
            const double other = u[c];
            u[c] = t[c];
            t[c] = other;
            d[c] = -d[c];
        }
    for (int c = 0; c < 3; c++) v[c] = d[(c + 1) % 3] * u[(c + 2) % 3] - d[(c + 2) % 3] * u[(c + 1) % 3];
    const double size = sqrt(dot(v, v));
    if (!(length > 0 && size > 0)) return false;
    for (int c = 0; c < 3; c++) v[c] /= size;
    for (int c = 0; c < 3; c++) w[c] = u[(c + 1) % 3] * v[(c + 2) % 3] - u[(c + 2) % 3] * v[(c + 1) % 3];
    const double parts[3] = {(atan2(dot(w, t), dot(u, t)) / 3.14159265358979324 + 1) / 2, (dot(v, t) + 1) / 2,
                             (dot(u, d) / length + 1) / 2};
    for (int h = 0; h < 3; h++) {
        const int bin = (int)floor(11 * parts[h]);
        bins[h] = 11 * h + (bin < 0 ? 0 : bin > 10 ? 10 : bin);
    }
    return true;
}

static double distance_of(const float* p, const float* q) {
    double squares = 0;
    for (int c = 0; c < 3; c++) squares += ((double)p[c] - (double)q[c]) * ((double)p[c] - (double)q[c]);
    return sqrt(squares);
}

// Features of oriented normals within a radius, by two loops over all pairs.
static void oracle_features(const float* points, const float* normals, int64_t count, double radius, double* features) {
    double* own = calloc((size_t)count * NUMBERS, sizeof *own);
    for (int64_t i = 0; i < count; i++) {
        int pairs = 0;
        for (int64_t j = 0; j < count; j++) {
            int bins[3];
            if (i == j || distance_of(points + 3 * i, points + 3 * j) > radius) continue;
            if (!oracle_bins(points + 3 * i, points + 3 * j, normals + 3 * i, normals + 3 * j, bins)) continue;
            for (int h = 0; h < 3; h++) own[NUMBERS * i + bins[h]]++;
            pairs++;
        }
        for (int b = 0; b < NUMBERS; b++) own[NUMBERS * i + b] *= pairs ? 100.0 / pairs : 0;
    }
    for (int64_t i = 0; i < count; i++) {
        double weights = 0, sums[NUMBERS] = {0};
        for (int64_t j = 0; j < count; j++) {
            const double far = distance_of(points + 3 * i, points + 3 * j);
            if (far == 0 || far > radius) continue;
            weights += 1 / far;
            for (int b = 0; b < NUMBERS; b++) sums[b] += own[NUMBERS * j + b] / far;
        }
        for (int b = 0; b < NUMBERS; b++)
            features[NUMBERS * i + b] =
                weights > 0 ? (own[NUMBERS * i + b] + sums[b] / weights) / 2 : own[NUMBERS * i + b];
    }
    free(own);
}

enum { FEW = 400 };

static void random_points(float* points, float* normals, uint64_t seed) {
    uint64_t state = seed;
    for (int i = 0; i < FEW; i++) {
        double n[3];
        for (int c = 0; c < 3; c++) {
            points[3 * i + c] = (float)random_unit(&state);
            n[c] = gauss(&state);
        }
        const double length = sqrt(dot(n, n));
        for (int c = 0; c < 3; c++) normals[3 * i + c] = (float)(n[c] / length);
    }
}

TEST(features_are_those_of_a_plain_loop) {
    sap_device* device = cpu_open(2);
    static float points[3 * FEW], normals[3 * FEW], features[NUMBERS * FEW];
    static double expected[NUMBERS * FEW];
    sap_tree* tree = NULL;
    random_points(points, normals, 3);
    // Normals of any length, and a point that nobody is near.
    for (int c = 0; c < 3; c++) {
        normals[c] *= 4;
        points[3 * 7 + c] = 9;
    }
    CHECK_STATUS(sap_tree_build(device, (sap_points){points, FEW, 3, 0}, NULL, &tree), SAP_OK);
    const sap_features_options o = {.radius = 0.2, .normals = normals, .is_oriented = true};
    CHECK_STATUS(sap_cloud_features(tree, &o, features), SAP_OK);
    for (int c = 0; c < 3; c++) normals[c] /= 4;
    oracle_features(points, normals, FEW, 0.2, expected);
    for (int i = 0; i < NUMBERS * FEW; i++) {
        NOTE("point %d, bin %d: %g, not %g", i / NUMBERS, i % NUMBERS, (double)features[i], expected[i]);
        CHECK(fabs((double)features[i] - expected[i]) < 1e-3);
    }
    for (int b = 0; b < NUMBERS; b++) CHECK(features[NUMBERS * 7 + b] == 0);
    for (int h = 0; h < 3; h++) {
        double sum = 0;
        for (int b = 0; b < 11; b++) sum += (double)features[11 * h + b];
        CHECK(fabs(sum - 100) < 1e-3);
    }
    sap_tree_free(tree);
    sap_device_close(device);
}

TEST(the_signs_of_normals_need_not_be_known) {
    sap_device* device = cpu_open(1);
    static float points[3 * FEW], normals[3 * FEW], features[2][NUMBERS * FEW];
    sap_tree* tree = NULL;
    random_points(points, normals, 4);
    CHECK_STATUS(sap_tree_build(device, (sap_points){points, FEW, 3, 0}, NULL, &tree), SAP_OK);
    const sap_features_options o = {.k = 20, .normals = normals};
    CHECK_STATUS(sap_cloud_features(tree, &o, features[0]), SAP_OK);
    for (int i = 0; i < 3 * FEW; i++) normals[i] = i / 3 % 3 ? normals[i] : -normals[i];
    CHECK_STATUS(sap_cloud_features(tree, &o, features[1]), SAP_OK);
    CHECK(!memcmp(features[0], features[1], sizeof features[0]));
    const sap_features_options oriented = {.k = 20, .normals = normals, .is_oriented = true};
    CHECK_STATUS(sap_cloud_features(tree, &oriented, features[1]), SAP_OK);
    CHECK(memcmp(features[0], features[1], sizeof features[0]) != 0);
    sap_tree_free(tree);
    sap_device_close(device);
}

// ---- Motions

TEST(motions_of_any_size_come_back_in_any_unit) {
    static const struct { double degrees, scale; } cases[] = {{180, 1}, {90, 1e-6}, {135, 1e7}, {0, 1}, {17, 1e3}};
    sap_device* device = cpu_open(2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double motion[16];
        make_motion(cases[i].degrees, 2.5, motion);
        scans* s = scans_new(device, motion, cases[i].scale, 5);
        for (int bits = 32; bits <= 64; bits += 32) {
            sap_global_motion found;
            NOTE("%g degrees, scale %g, %d bits", cases[i].degrees, cases[i].scale, bits);
            CHECK_STATUS(align_scans(s, bits, NULL, &found), SAP_OK);
            CHECK(found.found && found.rivals == 0 && found.overlap > 0.4 && found.overlap < 0.75);
            CHECK(found.matches >= found.agreeing && found.agreeing >= 10 && found.points > 1000);
            CHECK(found.spacing > 0.005 * cases[i].scale && found.spacing < 0.05 * cases[i].scale);
            for (int r = 0; r < 3; r++) found.transform[4 * r + 3] /= cases[i].scale;
            CHECK(left_over(found.transform, motion) < 0.01);
        }
        scans_free(s);
    }
    sap_device_close(device);
}

TEST(an_alignment_goes_on_from_there) {
    sap_device* device = cpu_open(2);
    double motion[16];
    make_motion(160, 30, motion);
    scans* s = scans_new(device, motion, 1, 5);
    sap_global_motion start;
    sap_alignment found;
    CHECK_STATUS(align_scans(s, 64, NULL, &start), SAP_OK);
    sap_align_options o = {.method = SAP_ALIGN_PLANE, .find_overlap = true};
    memcpy(o.start, start.transform, sizeof o.start);
    CHECK_STATUS(sap_cloud_align_f64(s->tree_f64, (sap_points_f64){s->source, POINTS, 3, 0}, &o, &found), SAP_OK);
    CHECK(found.converged && left_over(found.transform, motion) < 0.003);
    scans_free(s);
    sap_device_close(device);
}

TEST(a_scan_finds_its_place_on_a_mesh) {
    enum { SIDE = 61 };
    sap_device* device = cpu_open(2);
    double motion[16];
    make_motion(120, -4, motion);
    scans* s = scans_new(device, motion, 1, 5);
    static float vertices[3 * SIDE * SIDE];
    static int32_t triangles[6 * (SIDE - 1) * (SIDE - 1)];
    int32_t at = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        const double x = i % SIDE / (SIDE - 1.0), y = i / SIDE / (SIDE - 1.0);
        vertices[3 * i] = (float)x;
        vertices[3 * i + 1] = (float)y;
        vertices[3 * i + 2] = (float)height(x, y, 5);
    }
    for (int y = 0; y + 1 < SIDE; y++)
        for (int x = 0; x + 1 < SIDE; x++) {
            const int32_t a = y * SIDE + x;
            const int32_t both[6] = {a, a + 1, a + SIDE, a + 1, a + SIDE + 1, a + SIDE};
            for (int k = 0; k < 6; k++) triangles[at++] = both[k];
        }
    const sap_mesh mesh = {
        .vertices = vertices, .vertex_count = SIDE * SIDE, .triangles = triangles, .triangle_count = at / 3};
    sap_mesh_tree* tree = NULL;
    sap_global_motion found;
    CHECK_STATUS(sap_mesh_tree_build(device, mesh, NULL, &tree), SAP_OK);
    CHECK_STATUS(sap_cloud_align_global_mesh(tree, (sap_points){s->source_f32, POINTS, 3, 0}, NULL, &found), SAP_OK);
    CHECK(found.found && found.overlap > 0.8 && left_over(found.transform, motion) < 0.02);
    sap_mesh_tree_free(tree);
    scans_free(s);
    sap_device_close(device);
}

TEST(clouds_that_do_not_overlap_say_so) {
    sap_device* device = cpu_open(2);
    double motion[16];
    make_motion(40, 1, motion);
    scans* s = scans_new(device, identity, 1, 77);
    sap_global_options o = {.most = 1000};
    memcpy(o.start, motion, sizeof o.start);
    for (int bits = 32; bits <= 64; bits += 32) {
        sap_global_motion found;
        CHECK_STATUS(align_scans(s, bits, &o, &found), SAP_OK);
        CHECK(!found.found && found.rivals == 0 && found.overlap == 0 && found.agreeing == 0 && found.points > 300);
        // The start's turn is made one exactly.
        for (int i = 0; i < 16; i++) CHECK(fabs(found.transform[i] - motion[i]) < 1e-12);
    }
    scans_free(s);
    sap_device_close(device);
}

TEST(clouds_that_say_nothing_find_nothing) {
    enum { MANY = 3000 };
    sap_device* device = cpu_open(2);
    static float points[3 * MANY];
    const char* const kinds[] = {"none", "one", "two", "equal", "on a line", "a plane"};
    const int64_t counts[] = {0, 1, 2, MANY, MANY, MANY};
    for (int kind = 0; kind < 6; kind++) {
        uint64_t state = 9;
        for (int i = 0; i < MANY; i++) {
            points[3 * i] = kind == 3 ? 5 : (float)random_unit(&state);
            points[3 * i + 1] = kind == 5 ? (float)random_unit(&state) : 2 * points[3 * i];
            points[3 * i + 2] = 1;
        }
        sap_tree* tree = NULL;
        sap_global_motion found;
        const sap_points given = {points, counts[kind], 3, 0};
        NOTE("%s", kinds[kind]);
        CHECK_STATUS(sap_tree_build(device, given, NULL, &tree), SAP_OK);
        CHECK_STATUS(sap_cloud_align_global(tree, given, NULL, &found), SAP_OK);
        for (int i = 0; i < 16; i++) CHECK(isfinite(found.transform[i]));
        CHECK(isfinite(found.spacing) && isfinite(found.overlap));
        CHECK(kind == 5 || !found.found);
        for (int i = 0; i < 16; i++) CHECK(found.found || found.transform[i] == identity[i]);
        sap_tree_free(tree);
    }
    sap_device_close(device);
}

TEST(a_spacing_may_be_far_larger_than_clouds) {
    sap_device* device = cpu_open(1);
    double points[30];
    for (int i = 0; i < 30; i++) points[i] = (i * 7 % 11) * 1e-303;
    const sap_points_f64 given = {points, 10, 3, 0};
    const sap_global_options options = {.spacing = 1e20};
    sap_tree* tree = NULL;
    sap_global_motion found;
    CHECK_STATUS(sap_tree_build_f64(device, given, NULL, &tree), SAP_OK);
    CHECK_STATUS(sap_cloud_align_global_f64(tree, given, &options, &found), SAP_OK);
    CHECK(!found.found && isfinite(found.spacing));
    sap_tree_free(tree);
    sap_device_close(device);
}

// ---- Shapes that look alike from several sides, or from all

enum { OF_SHAPE = 4000 };

typedef enum shape { BALL, ELLIPSOID, BOX, DISC, TUBE, CUBE, STONE, SHAPES } shape;
static const char* const shape_names[] = {"ball", "ellipsoid", "box", "disc", "tube", "cube", "stone"};

// A point of the shape without noise. The stone is a ball with knobs, none opposite to another.
static void shape_point(shape kind, uint64_t* state, double p[3]) {
    static const double flat[3] = {1, 0.6, 0.4}, even[3] = {1, 1, 1};
    const double* axes = kind == ELLIPSOID || kind == BOX ? flat : even;
    double length = 0, most = 0, by = 1;
    for (int c = 0; c < 3; c++) p[c] = gauss(state);
    if (kind == BOX || kind == CUBE)
        for (int c = 0; c < 3; c++) p[c] = 2 * random_unit(state) - 1;
    for (int c = 0; c < 3; c++) {
        length += p[c] * p[c];
        most = fmax(most, fabs(p[c]));
    }
    if (kind == BALL || kind == ELLIPSOID || kind == STONE) by = sqrt(length);
    if (kind == BOX || kind == CUBE) by = most;
    if (kind == DISC) by = sqrt((p[0] * p[0] + p[1] * p[1]) / random_unit(state));
    if (kind == TUBE) by = 2 * sqrt(p[0] * p[0] + p[1] * p[1]);
    for (int c = 0; c < 3; c++) p[c] *= axes[c] / by;
    if (kind == DISC) p[2] = 0;
    if (kind == TUBE) p[2] = 2 * random_unit(state) - 1;
    double knobs = 1;
    for (int i = 0; kind == STONE && i < 6; i++) {
        uint64_t of_knob = 40 + (uint64_t)i;
        double q[3], along = 0, size = 0;
        for (int c = 0; c < 3; c++) {
            q[c] = gauss(&of_knob);
            size += q[c] * q[c];
            along += p[c] * q[c];
        }
        const double off = (1 - along / sqrt(size)) / (0.02 + 0.02 * i);
        knobs += (i % 2 ? -0.3 : 0.4) / ((1 + off) * (1 + off));
    }
    for (int c = 0; c < 3; c++) p[c] *= knobs;
}

// Other samples of the same shape for another seed.
static void sample_shape(shape kind, double noise, const double motion[16], uint64_t seed, float* points) {
    uint64_t state = seed;
    for (int i = 0; i < OF_SHAPE; i++) {
        double p[3], q[3];
        shape_point(kind, &state, p);
        for (int c = 0; c < 3; c++) p[c] += noise * gauss(&state);
        apply(motion, p, q);
        for (int c = 0; c < 3; c++) points[3 * i + c] = (float)q[c];
    }
}

static sap_global_motion place_shape(sap_device* device, shape kind, double noise, uint64_t seed) {
    static float target[3 * OF_SHAPE], source[3 * OF_SHAPE];
    sap_tree* tree = NULL;
    sap_global_motion found = {.rivals = -1};
    double motion[16];
    make_motion(75, 2, motion);
    sample_shape(kind, noise, identity, seed, target);
    sample_shape(kind, noise, motion, seed + 100, source);
    CHECK_STATUS(sap_tree_build(device, (sap_points){target, OF_SHAPE, 3, 0}, NULL, &tree), SAP_OK);
    CHECK_STATUS(sap_cloud_align_global(tree, (sap_points){source, OF_SHAPE, 3, 0}, NULL, &found), SAP_OK);
    sap_tree_free(tree);
    NOTE("%s, noise %g, seed %d: found %d, %lld rivals, %lld agree", shape_names[kind], noise, (int)seed, found.found,
         (long long)found.rivals, (long long)found.agreeing);
    return found;
}

TEST(shapes_that_look_alike_from_several_sides_say_so) {
    sap_device* device = cpu_open(2);
    for (shape kind = BALL; kind < STONE; kind++)
        for (int level = 0; level < 3; level++)
            for (uint64_t seed = 3; seed < 5; seed++) {
                const sap_global_motion found = place_shape(device, kind, 0.01 * level, seed);
                CHECK(!found.found || found.rivals > 0);
                // A plane without noise has no features that could match.
                CHECK(found.rivals > 0 || (kind == DISC && level == 0));
                CHECK(found.rivals < 12);
            }
    sap_device_close(device);
}

TEST(a_shape_that_looks_alike_from_no_other_side_has_no_rivals) {
    sap_device* device = cpu_open(2);
    for (int level = 0; level < 3; level++)
        for (uint64_t seed = 3; seed < 6; seed++) {
            double motion[16];
            const sap_global_motion found = place_shape(device, STONE, 0.01 * level, seed);
            make_motion(75, 2, motion);
            CHECK(found.found && found.rivals == 0 && left_over(found.transform, motion) < 0.05);
        }
    sap_device_close(device);
}

// Wrong motions fit a part of the source alike, which does not mean that it looks the same everywhere.
TEST(clouds_that_have_little_in_common_are_not_called_alike) {
    static double wide[2][3 * POINTS];
    sap_device* device = cpu_open(2);
    for (uint64_t seed = 30; seed < 38; seed++) {
        sap_tree* tree = NULL;
        sap_global_motion found;
        scan(wide[0], 0, 0.57, 0.015, 6, identity, 1, seed);
        scan(wide[1], 0.43, 1, 0.015, 6, identity, 1, seed + 100);
        CHECK_STATUS(sap_tree_build_f64(device, (sap_points_f64){wide[0], POINTS, 3, 0}, NULL, &tree), SAP_OK);
        CHECK_STATUS(sap_cloud_align_global_f64(tree, (sap_points_f64){wide[1], POINTS, 3, 0}, NULL, &found), SAP_OK);
        NOTE("seed %d: found %d, %lld rivals", (int)seed, found.found, (long long)found.rivals);
        CHECK(found.found || found.rivals == 0);
        sap_tree_free(tree);
    }
    sap_device_close(device);
}

TEST(results_are_the_same_bits_everywhere) {
    static const int threads[] = {1, 2, 5};
    double motion[16];
    make_motion(150, 1, motion);
    for (int bits = 32; bits <= 64; bits += 32) {
        sap_global_motion first = {.found = false};
        static float features[2][NUMBERS * POINTS];
        bool is_first = true;
        for (int t = 0; t < 3; t++) {
            devices all = devices_open(threads[t]);
            for (int d = 0; d < all.count; d++) {
                scans* s = scans_new(all.open[d], motion, 1, 5);
                sap_global_motion found;
                NOTE("%d bits, %d threads, device %d", bits, threads[t], d);
                CHECK_STATUS(align_scans(s, bits, &(sap_global_options){.most = 500}, &found), SAP_OK);
                CHECK_STATUS(sap_cloud_features(bits == 64 ? s->tree_f64 : s->tree, NULL, features[!is_first]), SAP_OK);
                if (is_first) first = found;
                CHECK(is_first || !memcmp(features[0], features[1], sizeof features[0]));
                is_first = false;
                CHECK(found.found && !memcmp(found.transform, first.transform, sizeof first.transform));
                CHECK(found.overlap == first.overlap && found.matches == first.matches &&
                      found.agreeing == first.agreeing && found.rivals == first.rivals &&
                      found.spacing == first.spacing && found.points == first.points);
                scans_free(s);
            }
            devices_close(&all);
        }
    }
}

// ---- Bad input

TEST(points_that_are_not_finite_are_refused_or_left_out) {
    stage s;
    open_stage(&s);
    sap_global_motion found = {.points = -5};
    s.coords[4] = (float)NAN;
    REFUSED(sap_cloud_align_global(s.tree, (sap_points){s.coords, 10, 3, 0}, NULL, &found), SAP_ERROR_NOT_FINITE,
            "point 1");
    CHECK_EQUAL(found.points, -5);
    const sap_global_options o = {.drop_nonfinite = true, .spacing = 0.01};
    CHECK_STATUS(sap_cloud_align_global(s.tree, (sap_points){s.coords, 10, 3, 0}, &o, &found), SAP_OK);
    CHECK(!found.found && found.points == 9);
    close_stage(&s);
}

TEST(bad_arguments_are_refused) {
    stage s;
    open_stage(&s);
    sap_global_motion found;
    float features[NUMBERS * 10];
    const sap_points source = {s.coords, 10, 3, 0};
    const float normals[30] = {[7] = INFINITY};
    CHECK_STATUS(sap_cloud_align_global(NULL, source, NULL, &found), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cloud_align_global_f64(NULL, (sap_points_f64){s.coords_f64, 10, 3, 0}, NULL, &found),
                 SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cloud_align_global_mesh(NULL, source, NULL, &found), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cloud_features(NULL, NULL, features), SAP_ERROR_ARGUMENT);
    REFUSED(sap_cloud_align_global(s.tree, source, NULL, NULL), SAP_ERROR_ARGUMENT, "motion");
    REFUSED(sap_cloud_align_global(s.tree, (sap_points){s.coords, 10, 2, 0}, NULL, &found), SAP_ERROR_ARGUMENT,
            "source");
    REFUSED(sap_cloud_align_global(s.tree, (sap_points){s.coords, 10, 3, 2}, NULL, &found), SAP_ERROR_ARGUMENT,
            "stride");
    REFUSED(sap_cloud_align_global(s.tree, (sap_points){NULL, 10, 3, 0}, NULL, &found), SAP_ERROR_ARGUMENT, "source");
    REFUSED(sap_cloud_align_global(s.tree, (sap_points){s.coords, -1, 3, 0}, NULL, &found), SAP_ERROR_ARGUMENT,
            "source");
    REFUSED(sap_cloud_align_global(s.tree, (sap_points){s.coords, INT64_C(1) << 31, 3, 0}, NULL, &found),
            SAP_ERROR_RANGE, "source");
    REFUSED(sap_cloud_align_global(s.tree, (sap_points){s.coords, 10, 3, INT64_MAX / 4}, NULL, &found), SAP_ERROR_RANGE,
            "source.stride");
    REFUSED(sap_cloud_align_global(s.tree_f64, source, NULL, &found), SAP_ERROR_ARGUMENT, "precision");
    REFUSED(sap_cloud_align_global(s.tree, source, &(sap_global_options){.spacing = 1e-30}, &found), SAP_ERROR_RANGE,
            "options.spacing: 1e-30 is too small");
#define REFUSED_OPTION(word, ...)                                                                                      \
    REFUSED(sap_cloud_align_global(s.tree, source, &(sap_global_options){__VA_ARGS__}, &found), SAP_ERROR_ARGUMENT,    \
            "options." word)
    REFUSED_OPTION("spacing", .spacing = -1);
    REFUSED_OPTION("spacing", .spacing = (double)NAN);
    REFUSED_OPTION("most", .most = 99);
    REFUSED_OPTION("most", .most = 100001);
    REFUSED_OPTION("least_overlap", .least_overlap = 1.5);
    REFUSED_OPTION("reserved", .reserved = {1});
    REFUSED_OPTION("start", .start = {2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1});
    REFUSED(sap_cloud_features(s.tree, NULL, NULL), SAP_ERROR_ARGUMENT, "features");
    REFUSED(sap_cloud_features(s.tree, &(sap_features_options){.k = -1}, features), SAP_ERROR_ARGUMENT, "options.k");
    REFUSED(sap_cloud_features(s.tree, &(sap_features_options){.radius = -1}, features), SAP_ERROR_ARGUMENT,
            "options.radius");
    REFUSED(sap_cloud_features(s.tree, &(sap_features_options){.is_oriented = true}, features), SAP_ERROR_ARGUMENT,
            "options.is_oriented");
    REFUSED(sap_cloud_features(s.tree, &(sap_features_options){.reserved = {1}}, features), SAP_ERROR_ARGUMENT,
            "options.reserved");
    REFUSED(sap_cloud_features(s.tree, &(sap_features_options){.normals = normals}, features), SAP_ERROR_NOT_FINITE,
            "point 2");
    close_stage(&s);
}

TEST(progress_cancels) {
    progress_host host = {0};
    sap_device* device = NULL;
    sap_global_motion found;
    const sap_device_options options = {.processor = SAP_CPU, .progress = progress_host_report, .progress_user = &host};
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    scans* s = scans_new(device, identity, 1, 5);
    host = (progress_host){0};
    CHECK_STATUS(align_scans(s, 32, NULL, &found), SAP_OK);
    CHECK(host.last == 1 && host.reports == 4);
    for (int stop = 1; stop <= 4; stop++) {
        host = (progress_host){.stop_at = stop};
        CHECK_STATUS(align_scans(s, 32, NULL, &found), SAP_ERROR_CANCELLED);
        CHECK_EQUAL(host.reports, stop);
    }
    scans_free(s);
    sap_device_close(device);
}

TEST_MAIN()
