// Many clouds aligned at once: motions that pairs are made from come back, also beside a wrong pair; scans of a land are put
// together; what does not overlap is another group; the same bits everywhere; bad input.
#include "allocator.h"
#include "calls.h"
#include "cloud/global/poses.h"
#include "motions.h"
#include "progress_host.h"
#include "sapwood/align.h"
#include "stage.h"
#include <math.h>
#include <stdlib.h>

// A turn by an angle in degrees about a random direction, then a random shift of up to `shift`.
static void make_motion(double degrees, double shift, uint64_t* state, double m[16]) {
    double axis[3], length = 0;
    for (int c = 0; c < 3; c++) {
        axis[c] = random_unit(state) - 0.5;
        length += axis[c] * axis[c];
    }
    make_turn(degrees, axis[0] / sqrt(length), axis[1] / sqrt(length), axis[2] / sqrt(length), m);
    for (int r = 0; r < 3; r++) m[4 * r + 3] = shift * (2 * random_unit(state) - 1);
}

// How far two motions are apart on the corners of the unit cube, at most.
static double apart(const double a[16], const double b[16]) {
    double most = 0;
    for (int corner = 0; corner < 8; corner++) {
        double p[3], q[3], r[3], far = 0;
        for (int c = 0; c < 3; c++) p[c] = corner >> c & 1;
        apply(a, p, q);
        apply(b, p, r);
        for (int c = 0; c < 3; c++) far += (q[c] - r[c]) * (q[c] - r[c]);
        most = fmax(most, sqrt(far));
    }
    return most;
}

// ---- Motions alone

enum { CLOUDS = 6, PAIRS = CLOUDS * (CLOUDS - 1) / 2 };

typedef struct problem {
    double made[16 * CLOUDS], transforms[16 * CLOUDS];
    double matrix[36 * CLOUDS * CLOUDS], right[6 * CLOUDS], sorted[PAIRS];
    int32_t groups[CLOUDS];
    sap_many_pair pairs[PAIRS];
    sap_poses poses;
} problem;

// The information of 1,000 points in the unit cube about their middle.
static void make_information(double information[36]) {
    memset(information, 0, 36 * sizeof *information);
    for (int c = 0; c < 3; c++) {
        information[7 * c] = 1000 / 6.0;
        information[7 * (c + 3)] = 1000;
    }
}

// A turn about the origin becomes one about a center.
static void turn_about(double m[16], const double center[3]) {
    double at[3];
    apply(m, center, at);
    for (int r = 0; r < 3; r++) m[4 * r + 3] += center[r] - (at[r] - m[4 * r + 3]);
}

// All pairs of clouds at random places, in units of 1 / scale.
static problem* problem_new(double scale, double noise) {
    uint64_t state = 17;
    problem* p = calloc(1, sizeof *p);
    sap_many_pair* pair = p->pairs;
    for (int i = 0; i < CLOUDS; i++) {
        make_motion(i ? 50.0 * i : 0, i ? 3 * scale : 0, &state, p->made + 16L * i);
        memcpy(p->transforms + 16L * i, identity, sizeof identity);
    }
    for (int32_t source = 1; source < CLOUDS; source++)
        for (int32_t target = 0; target < source; target++, pair++) {
            double back[16], off[16];
            pair->source = source;
            pair->target = target;
            pair->found = true;
            pair->alignment.pairs = 1000 - 10 * (pair - p->pairs);
            pair->alignment.rmse = 0.01 * scale;
            sap_motion_inverse(p->made + 16L * target, back);
            sap_motion_product(back, p->made + 16L * source, pair->alignment.transform);
            apply(pair->alignment.transform, (double[]){0.5 * scale, 0.5 * scale, 0.5 * scale}, pair->alignment.center);
            make_motion(noise, noise * 0.01 * scale, &state, off);
            turn_about(off, pair->alignment.center);
            sap_motion_product(off, pair->alignment.transform, pair->alignment.transform);
            apply(pair->alignment.transform, (double[]){0.5 * scale, 0.5 * scale, 0.5 * scale}, pair->alignment.center);
            make_information(pair->alignment.information);
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++) pair->alignment.information[6 * r + c] *= scale * scale;
        }
    p->poses = (sap_poses){CLOUDS, PAIRS, p->transforms, p->groups, p->pairs, 0, 0, p->matrix, p->right, p->sorted};
    return p;
}

static double worst(const problem* p, double scale) {
    double most = 0;
    for (int i = 0; i < CLOUDS; i++) {
        double found[16], made[16];
        memcpy(found, p->transforms + 16L * i, sizeof found);
        memcpy(made, p->made + 16L * i, sizeof made);
        for (int r = 0; r < 3; r++) {
            found[4 * r + 3] /= scale;
            made[4 * r + 3] /= scale;
        }
        most = fmax(most, apart(found, made));
    }
    return most;
}

TEST(motions_come_back_from_their_pairs) {
    static const double scales[] = {1, 1e-6, 1e7};
    for (int s = 0; s < 3; s++) {
        problem* p = problem_new(scales[s], 0);
        sap_poses_solve(&p->poses);
        NOTE("scale %g", scales[s]);
        CHECK(worst(p, scales[s]) < 1e-9);
        for (int i = 0; i < CLOUDS; i++) CHECK_EQUAL(p->groups[i], 0);
        for (int i = 0; i < PAIRS; i++) CHECK(p->pairs[i].kept && p->pairs[i].residual < 1e-9 * scales[s]);
        free(p);
    }
}

// What is made small, by eight points that have the information of make_information.
static double cost(const problem* p, const double* transforms) {
    double sum = 0;
    for (int k = 0; k < PAIRS; k++) {
        const sap_alignment* a = &p->pairs[k].alignment;
        double back[16], ahead[16], off[16];
        sap_motion_inverse(a->transform, back);
        sap_motion_inverse(transforms + 16L * p->pairs[k].target, ahead);
        sap_motion_product(transforms + 16L * p->pairs[k].source, back, off);
        sap_motion_product(ahead, off, off);
        for (int corner = 0; corner < 8; corner++) {
            double from[3], to[3];
            for (int c = 0; c < 3; c++) from[c] = a->center[c] + (corner >> c & 1 ? 1 : -1) / sqrt(12);
            apply(off, from, to);
            for (int c = 0; c < 3; c++) sum += 125 * (to[c] - from[c]) * (to[c] - from[c]);
        }
    }
    return sum;
}

// Pairs with a large rmse are off; the others agree on where clouds lie.
TEST(loose_pairs_count_less_than_tight_ones) {
    double errors[2];
    for (int is_told = 0; is_told < 2; is_told++) {
        problem* p = problem_new(1, 0);
        uint64_t state = 3;
        for (int k = 0; k < PAIRS; k += 3) {
            sap_alignment* a = &p->pairs[k].alignment;
            double off[16];
            make_motion(0.5, 0.01, &state, off);
            turn_about(off, a->center);
            sap_motion_product(off, a->transform, a->transform);
            apply(a->transform, (double[]){0.5, 0.5, 0.5}, a->center);
            if (is_told) a->rmse = 0.08;
        }
        p->poses.scale2 = 1e6; // so that nothing but the rmse tells them apart
        sap_poses_solve(&p->poses);
        errors[is_told] = worst(p, 1);
        free(p);
    }
    NOTE("worst error %g where the rmse are alike, %g where they tell", errors[0], errors[1]);
    CHECK(errors[0] > 1e-3 && errors[1] < errors[0] / 5);
}

TEST(errors_are_shared_by_all_pairs) {
    problem* p = problem_new(1, 1);
    double tried[16 * CLOUDS];
    p->poses.scale2 = 1e6;
    sap_poses_solve(&p->poses);
    const double least = cost(p, p->transforms);
    CHECK(worst(p, 1) < 0.1 && worst(p, 1) > 1e-4 && least > 0);
    for (int i = 0; i < PAIRS; i++) CHECK(p->pairs[i].residual > 1e-4 && p->pairs[i].residual < 0.03);
    // No small motion of a cloud makes it less.
    for (int i = 6; i < 6 * CLOUDS; i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            const double small = sign * 1e-3;
            double step[16], *m = tried + 16L * (i / 6);
            memcpy(step, identity, sizeof step);
            memcpy(tried, p->transforms, sizeof tried);
            if (i % 6 < 3)
                step[4 * (i % 3) + 3] = small;
            else {
                const int r = (i + 1) % 3, c = (i + 2) % 3;
                step[5 * r] = step[5 * c] = cos(small);
                step[4 * r + c] = -sin(small);
                step[4 * c + r] = sin(small);
                turn_about(step, (double[]){m[3], m[7], m[11]});
            }
            sap_motion_product(step, m, m);
            NOTE("cloud %d, direction %d: %.17g, %.17g", i / 6, i % 6, cost(p, tried), least);
            CHECK(cost(p, tried) > least);
        }
    free(p);
}

TEST(a_wrong_pair_does_not_pull) {
    for (int wrong = 0; wrong < PAIRS; wrong++) {
        uint64_t state = 90 + (uint64_t)wrong;
        double off[16];
        problem* p = problem_new(1, 0);
        make_motion(40, 1, &state, off);
        sap_motion_product(off, p->pairs[wrong].alignment.transform, p->pairs[wrong].alignment.transform);
        apply(off, (double[]){0.5, 0.5, 0.5}, p->pairs[wrong].alignment.center);
        sap_poses_solve(&p->poses);
        NOTE("pair %d", wrong);
        CHECK(worst(p, 1) < 1e-3);
        for (int i = 0; i < PAIRS; i++) CHECK(p->pairs[i].kept == (i != wrong));
        CHECK(p->pairs[wrong].residual > 0.1 && p->pairs[wrong].weight < 0.05);
        free(p);
    }
}

// ---- Clouds

enum { POINTS = 3000, BUMPS = 24, SCANS = 4 };

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

typedef struct scans {
    float coords[SCANS][3 * POINTS];
    double motions[16 * SCANS], inverses[16 * SCANS];
    sap_points clouds[SCANS];
} scans;

// Scans of strips of a land, each of which half overlaps the next; the last is of another land. Each is moved.
static scans* scans_new(double degrees, double shift) {
    scans* s = calloc(1, sizeof *s);
    uint64_t state = 3;
    for (int i = 0; i < SCANS; i++) {
        double* motion = s->motions + 16L * i;
        make_motion(i ? degrees : 0, i ? shift : 0, &state, motion);
        sap_motion_inverse(motion, s->inverses + 16L * i);
        for (int64_t k = 0; k < POINTS; k++) {
            double q[3], p[3] = {0.2 * (i % 3) + 0.6 * random_unit(&state), random_unit(&state), 0};
            p[2] = height(p[0], p[1], i == 3 ? 99 : 5);
            apply(motion, p, q);
            for (int c = 0; c < 3; c++) s->coords[i][3 * k + c] = (float)q[c];
        }
        s->clouds[i] = (sap_points){s->coords[i], POINTS, 3, 0};
    }
    return s;
}

static sap_device* cpu_open(int32_t threads) {
    const sap_device_options options = {.processor = SAP_CPU, .threads = threads};
    sap_device* device = NULL;
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    return device;
}

TEST(scans_are_put_together_from_anywhere) {
    sap_device* device = cpu_open(2);
    scans* s = scans_new(130, 20);
    const sap_many_options o = {.global = true, .align = {.method = SAP_ALIGN_PLANE}};
    double transforms[16 * SCANS];
    int32_t groups[SCANS];
    sap_many_pair pairs[SCANS * (SCANS - 1) / 2];
    CHECK_STATUS(sap_cloud_align_many(device, s->clouds, SCANS, &o, transforms, groups, pairs), SAP_OK);
    for (int i = 0; i < 3; i++) {
        double both[16];
        sap_motion_product(transforms + 16L * i, s->motions + 16L * i, both);
        NOTE("scan %d is off by %g", i, apart(both, identity));
        CHECK(apart(both, identity) < 0.01);
        CHECK_EQUAL(groups[i], 0);
    }
    CHECK_EQUAL(groups[3], 1);
    CHECK(!memcmp(transforms + 16L * 3, identity, sizeof identity));
    for (int i = 0; i < 6; i++) {
        CHECK_EQUAL(pairs[i].source, i < 1 ? 1 : i < 3 ? 2 : 3);
        CHECK_EQUAL(pairs[i].target, i < 1 ? 0 : i < 3 ? i - 1 : i - 3);
        CHECK(pairs[i].kept == (i < 3) && pairs[i].found == (i < 3));
        CHECK((i < 3) == (pairs[i].alignment.pairs > 0));
        CHECK_EQUAL(pairs[i].rivals, 0);
    }
    free(s);
    sap_device_close(device);
}

TEST(a_pair_that_fits_in_several_ways_says_so) {
    sap_device* device = cpu_open(2);
    static float coords[2][3 * POINTS];
    sap_points clouds[2];
    uint64_t state = 8;
    for (int i = 0; i < 2; i++) {
        for (int64_t k = 0; k < POINTS; k++) {
            double p[3], most = 0; // on a cube
            for (int c = 0; c < 3; c++) {
                p[c] = 2 * random_unit(&state) - 1;
                most = fmax(most, fabs(p[c]));
            }
            for (int c = 0; c < 3; c++) coords[i][3 * k + c] = (float)(p[c] / most);
        }
        clouds[i] = (sap_points){coords[i], POINTS, 3, 0};
    }
    double transforms[32];
    sap_many_pair pair;
    CHECK_STATUS(sap_cloud_align_many(device, clouds, 2, &(sap_many_options){.global = true}, transforms, NULL, &pair),
                 SAP_OK);
    CHECK(pair.found && pair.rivals > 0);
    CHECK_STATUS(sap_cloud_align_many(device, clouds, 2, NULL, transforms, NULL, &pair), SAP_OK);
    CHECK(pair.found && pair.rivals == 0); // nobody looked for another
    sap_device_close(device);
}

TEST(scans_are_put_together_from_starts) {
    sap_device* device = cpu_open(2);
    scans* s = scans_new(2, 0.02);
    const int32_t chosen[] = {0, 1, 2, 1};
    const sap_many_options o = {.pairs = chosen,
                                .pair_count = 2,
                                .starts = s->inverses,
                                .align = {.method = SAP_ALIGN_PLANE, .max_distance = 0.03}};
    double transforms[16 * SCANS];
    int32_t groups[SCANS];
    sap_many_pair pairs[2];
    CHECK_STATUS(sap_cloud_align_many(device, s->clouds, 3, &o, transforms, groups, pairs), SAP_OK);
    for (int i = 0; i < 3; i++) {
        double both[16];
        sap_motion_product(transforms + 16L * i, s->motions + 16L * i, both);
        CHECK(apart(both, identity) < 0.01);
        CHECK_EQUAL(groups[i], 0);
    }
    CHECK(pairs[0].source == 0 && pairs[0].target == 1 && pairs[1].source == 2 && pairs[1].target == 1);
    CHECK(pairs[0].kept && pairs[1].kept);
    free(s);
    sap_device_close(device);
}

TEST(results_are_the_same_bits_everywhere) {
    static const int threads[] = {1, 2, 5};
    scans* s = scans_new(70, 2);
    double first[16 * SCANS];
    bool is_first = true;
    for (int t = 0; t < 3; t++) {
        devices all = devices_open(threads[t]);
        for (int d = 0; d < all.count; d++) {
            if (is_gpu(all.open[d])) continue;
            double transforms[16 * SCANS];
            const sap_many_options o = {.global = true, .align = {.method = SAP_ALIGN_GENERALISED, .iterations = 10}};
            CHECK_STATUS(sap_cloud_align_many(all.open[d], s->clouds, 3, &o, transforms, NULL, NULL), SAP_OK);
            if (is_first) memcpy(first, transforms, sizeof first);
            is_first = false;
            CHECK(!memcmp(first, transforms, 3 * 16 * sizeof *first));
        }
        devices_close(&all);
    }
    free(s);
}

TEST(no_clouds_and_one_are_well) {
    sap_device* device = cpu_open(1);
    scans* s = scans_new(0, 0);
    double transforms[16];
    int32_t group = 9;
    CHECK_STATUS(sap_cloud_align_many(device, NULL, 0, NULL, NULL, NULL, NULL), SAP_OK);
    CHECK_STATUS(sap_cloud_align_many(device, s->clouds, 1, NULL, transforms, &group, NULL), SAP_OK);
    CHECK(group == 0 && !memcmp(transforms, identity, sizeof identity));
    const sap_points empty[2] = {{NULL, 0, 3, 0}, {NULL, 0, 3, 0}};
    double both[32];
    int32_t groups[2];
    CHECK_STATUS(sap_cloud_align_many(device, empty, 2, NULL, both, groups, NULL), SAP_OK);
    CHECK(groups[0] == 0 && groups[1] == 1 && !memcmp(both + 16, identity, sizeof identity));
    free(s);
    sap_device_close(device);
}

TEST(bad_arguments_are_refused) {
    stage s;
    open_stage(&s);
    double transforms[32];
    float normals[30] = {0};
    const sap_points clouds[2] = {{s.coords, 10, 3, 0}, {s.coords, 10, 3, 0}},
                     flat[2] = {{s.coords, 10, 3, 0}, {s.coords, 10, 2, 0}};
    CHECK_STATUS(sap_cloud_align_many(NULL, clouds, 2, NULL, transforms, NULL, NULL), SAP_ERROR_ARGUMENT);
#define REFUSED_MANY(clouds, count, word, ...)                                                                         \
    REFUSED(sap_cloud_align_many(s.device, clouds, count, &(sap_many_options){__VA_ARGS__}, transforms, NULL, NULL),   \
            SAP_ERROR_ARGUMENT, word)
    const int32_t same[] = {1, 1}, beyond[] = {0, 2};
    const double mirror[32] = {-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    REFUSED_MANY(NULL, 2, "clouds", .scale = 0);
    REFUSED_MANY(clouds, -1, "clouds", .scale = 0);
    REFUSED_MANY(flat, 2, "cloud 1", .scale = 0);
    REFUSED_MANY(clouds, 2, "options.scale", .scale = -1);
    REFUSED_MANY(clouds, 2, "options.least_overlap", .least_overlap = 2);
    REFUSED_MANY(clouds, 2, "options.reserved", .reserved = {1});
    REFUSED_MANY(clouds, 2, "options.pairs", .pair_count = 1);
    REFUSED_MANY(clouds, 2, "options.pairs", .pairs = same, .pair_count = 1);
    REFUSED_MANY(clouds, 2, "options.pairs", .pairs = beyond, .pair_count = 1);
    REFUSED_MANY(clouds, 2, "start", .starts = mirror);
    REFUSED_MANY(clouds, 2, "options.starts", .starts = mirror, .global = true);
    REFUSED_MANY(clouds, 2, "options.align.start", .align = {.start = {1}});
    REFUSED_MANY(clouds, 2, "options.align", .align = {.source_normals = normals});
    REFUSED_MANY(clouds, 2, "options.kernel", .align = {.kernel = (sap_align_kernel)9});
    REFUSED(sap_cloud_align_many(s.device, clouds, 2, NULL, NULL, NULL, NULL), SAP_ERROR_ARGUMENT, "transforms");
    REFUSED(sap_cloud_align_many(s.device, clouds, 1001, NULL, transforms, NULL, NULL), SAP_ERROR_RANGE, "clouds");
    close_stage(&s);
}

TEST(progress_cancels) {
    progress_host host = {0};
    sap_device* device = NULL;
    scans* s = scans_new(1, 0.01);
    double transforms[16 * SCANS];
    const sap_device_options options = {.processor = SAP_CPU, .progress = progress_host_report, .progress_user = &host};
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    CHECK_STATUS(sap_cloud_align_many(device, s->clouds, 2, NULL, transforms, NULL, NULL), SAP_OK);
    CHECK(host.last == 1 && host.reports >= 8); // also within clouds and pairs
    for (int stop = 1; stop <= 8; stop++) {
        host = (progress_host){.stop_at = stop};
        CHECK_STATUS(sap_cloud_align_many(device, s->clouds, 2, NULL, transforms, NULL, NULL), SAP_ERROR_CANCELLED);
        CHECK_EQUAL(host.reports, stop);
    }
    const sap_many_options global = {.global = true, .align = {.method = SAP_ALIGN_PLANE}};
    host = (progress_host){0};
    CHECK_STATUS(sap_cloud_align_many(device, s->clouds, 2, &global, transforms, NULL, NULL), SAP_OK);
    CHECK(host.last == 1 && host.reports >= 8);
    free(s);
    sap_device_close(device);
}

TEST_MAIN()
