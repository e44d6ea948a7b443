// Points that relax: a step is that of its definition over brute force neighbours, bit for bit on every device; energies
// fall, forces cancel out, spheres stay spheres; bad input.
#include "cases.h"
#include "cloud/axes.h"
#include "progress_host.h"
#include "sapwood/cloud.h"
#include "stage.h"

enum { MOST = 500 };

// ---- The definition

typedef struct neighbors_of {
    int64_t found;
    int32_t ids[MOST];
    float distance2[MOST];
} neighbors_of;

// Those within a radius stand in the tree's own order, which sap_radius shows.
static void find_neighbors(const cloud* points, const sap_tree* tree, int64_t id, const sap_relax_options* o,
                           neighbors_of* n) {
    const cloud query = cloud_part(points, id, 1);
    const oracle_rules rules = {.limit2 = oracle_limit2(o->radius > 0 ? o->radius : (double)INFINITY, 32)};
    n->found = 0;
    if (o->k > 0) {
        CHECK(oracle_nearest(points, &query, 0, o->k, &rules, n->ids, n->distance2));
        while (n->found < o->k && n->ids[n->found] >= 0) n->found++;
        return;
    }
    sap_neighbors* found = NULL;
    CHECK_STATUS(radius_collect(tree, &query, o->radius, &found), SAP_OK);
    n->found = found->offsets[1];
    memcpy(n->ids, found->ids, (size_t)n->found * sizeof *n->ids);
    memcpy(n->distance2, found->distance2, (size_t)n->found * sizeof *n->distance2);
    sap_neighbors_free(found);
}

static void expect_move(const cloud* points, int64_t id, const sap_relax_options* o, const neighbors_of* n, float* to) {
    const double range = o->radius > 0 ? o->radius : sqrt((double)n->distance2[n->found - 1]);
    double weight = 0, push[3] = {0, 0, 0}, mean[3] = {0, 0, 0}, second[3][3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}},
           off2 = 0, move[3];
    for (int64_t j = 0; j < n->found; j++) {
        const double part = 1 - (double)n->distance2[j] * (1 / (range * range)), w = part > 0 ? part * part : 0;
        const float distance = sqrtf(n->distance2[j]);
        const double factor = (double)(1 / distance) - 1 / range;
        double d[3];
        for (int a = 0; a < 3; a++) d[a] = cloud_get(points, n->ids[j], a) - cloud_get(points, id, a);
        for (int a = 0; a < 3; a++) push[a] += d[a] * (distance > 0 && factor > 0 ? factor : 0);
        weight += w;
        for (int a = 0; a < 3; a++) mean[a] += d[a] * w;
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) second[a][b] += d[a] * w * d[b];
    }
    const double one = weight > 0 ? weight : 1;
    for (int a = 0; a < 3; a++) mean[a] = mean[a] / one;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) second[a][b] = second[a][b] / one - mean[a] * mean[b];
    for (int a = 0; a < 3; a++)
        if (second[a][a] < 0) second[a][a] = 0;
    const sap_symmetric m = {second[0][0], second[0][1], second[2][0], second[1][1], second[1][2], second[2][2]};
    const sap_principal p = sap_principal_of(m);
    const sap_place3 across = sap_cross3(p.least_axis, p.greatest_axis);
    const double beside[3] = {across.x, across.y, across.z};
    for (int a = 0; a < 3; a++) {
        const double off = cloud_get(points, id, a) * beside[a];
        off2 += off * off;
    }
    const double noise = 0x1p-24 * 0x1p-24 * (off2 + 16 * p.greatest) + 0x1p-48 * p.greatest;
    const bool is_still = n->found < 3 || !(weight > 0) || !(p.greatest > 0), is_line = p.middle <= noise;
    const double least[3] = {p.least_axis.x, p.least_axis.y, p.least_axis.z};
    const double greatest[3] = {p.greatest_axis.x, p.greatest_axis.y, p.greatest_axis.z};
    const double factor = (o->step > 0 ? o->step : 1) * range / (double)(2 * (n->found - 1));
    double along = 0;
    for (int a = 0; a < 3; a++) {
        move[a] = -factor * push[a];
        along += move[a] * (is_line ? greatest[a] : least[a]);
    }
    for (int a = 0; a < 3; a++) {
        move[a] = is_line ? along * greatest[a] : move[a] - along * least[a];
        to[a] = (float)(cloud_get(points, id, a) + (is_still ? 0 : move[a]));
    }
}

// `own`: normals of the points that moved, where they were before.
static void expect_back(const cloud* points, const float* normals, const float* own, int64_t count, double reach,
                        float* moved) {
    for (int64_t i = 0; i < count; i++) {
        const cloud query = {.coords = moved + 3 * i, .count = 1, .dims = 3, .real_bits = 32, .stride = 3};
        const oracle_rules rules = {.limit2 = oracle_limit2((double)INFINITY, 32)};
        int32_t id = -1;
        float distance2;
        double along = 0, off = 0, square = 0, normal[3], from[3];
        CHECK(oracle_nearest(points, &query, 0, 1, &rules, &id, &distance2));
        for (int a = 0; a < 3; a++) along += (double)normals[3 * (int64_t)id + a] * (double)own[3 * i + a];
        for (int a = 0; a < 3; a++) {
            const double here = (double)own[3 * i + a];
            normal[a] = (double)normals[3 * (int64_t)id + a] + (along >= 0.5 ? here : along <= -0.5 ? -here : 0.0);
            from[a] = (double)moved[3 * i + a] - cloud_get(points, id, a);
            off += from[a] * normal[a];
            square += normal[a] * normal[a];
        }
        for (int a = 0; a < 3; a++) from[a] -= (square > 0 ? off / square : 0) * normal[a];
        const double distance = sqrt(from[0] * from[0] + from[1] * from[1] + from[2] * from[2]);
        const double part = distance > reach ? reach / distance : 1;
        for (int a = 0; a < 3; a++) moved[3 * i + a] = (float)(cloud_get(points, id, a) + part * from[a]);
    }
}

// The radius, but where it goes beyond the cloud.
static double limited(const cloud* points, double radius) {
    double lower[3], upper[3], diagonal2 = 0;
    for (int64_t i = 0; i < points->count; i++)
        for (int a = 0; a < 3; a++) {
            const double x = cloud_get(points, i, a);
            lower[a] = i ? fmin(lower[a], x) : x;
            upper[a] = i ? fmax(upper[a], x) : x;
        }
    for (int a = 0; points->count && a < 3; a++) diagonal2 += (upper[a] - lower[a]) * (upper[a] - lower[a]);
    return diagonal2 > 0 ? fmin(radius, sqrt(diagonal2) * (1 + 0x1p-20)) : radius;
}

static void check_floats(const float* got, const float* expected, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        if (got[i] == expected[i]) continue;
        NOTE("number %lld is %a, not %a", (long long)i, (double)got[i], (double)expected[i]);
        CHECK(false);
        return;
    }
}

// How far a step moved points is how far off they are when they have been put back.
static void check_movement(const cloud* points, const float* moved, const sap_relax_info* info) {
    double sum = 0;
    for (int64_t i = 0; i < points->count; i++)
        for (int a = 0; a < 3; a++) {
            const double d = (double)moved[3 * i + a] - cloud_get(points, i, a);
            sum += d * d;
        }
    const double expected = points->count ? sqrt(sum / (double)points->count) : 0;
    CHECK(fabs(info->movement - expected) <= 1e-12 * expected);
}

static void try_case(const devices* all, family kind, int64_t size, uint64_t chance) {
    static neighbors_of n;
    static float expected[3 * MOST], back[3 * MOST], got[3 * MOST], normals[3 * MOST], own[3 * MOST];
    cloud points = cloud_of_family(kind, size, 3, 32, chance % 3 ? 0 : 4, chance);
    const double radius = 3 * case_radius(&points, &points, chance);
    sap_relax_options o = {.k = chance % 2 ? 16 : 40, .step = chance / 2 % 2 ? 0 : 1.5, .is_free = true};
    if (chance / 4 % 2) o.radius = radius > 1e-15 && radius < 1e15 ? radius : 0.25;
    if (chance / 8 % 2 && o.radius > 0) o.k = 0;
    for (int d = 0; d < all->count; d++) {
        sap_relax_info info;
        NOTE("%s n %d k %d radius %g step %g device %d", family_name(kind), (int)size, o.k, o.radius, o.step, d);
        if (d == 0) {
            sap_tree* tree = NULL;
            sap_relax_options within = o;
            within.radius = limited(&points, o.radius);
            CHECK_STATUS(build(all->open[d], &points, NULL, &tree), SAP_OK);
            for (int64_t i = 0; i < size; i++) {
                find_neighbors(&points, tree, i, &within, &n);
                expect_move(&points, i, &within, &n, expected + 3 * i);
            }
            const sap_normals_options plain = {.k = o.k, .radius = within.radius};
            CHECK_STATUS(sap_cloud_normals(tree, &plain, normals, NULL), SAP_OK);
            memcpy(back, expected, sizeof back);
            CHECK_STATUS(sap_cloud_relax(all->open[d], cloud_f32(&points), &o, got, own, NULL), SAP_OK);
            expect_back(&points, normals, own, size, within.radius > 0 ? within.radius / 2 : (double)INFINITY, back);
            sap_tree_free(tree);
        }
        o.is_free = true;
        CHECK_STATUS(sap_cloud_relax(all->open[d], cloud_f32(&points), &o, got, NULL, &info), SAP_OK);
        check_floats(got, expected, 3 * size);
        CHECK(info.steps == 1);
        o.is_free = false;
        CHECK_STATUS(
            sap_cloud_relax(all->open[d], cloud_f32(&points), &o, got, chance / 16 % 2 ? normals : NULL, &info),
            SAP_OK);
        check_floats(got, back, 3 * size);
        check_movement(&points, got, &info);
    }
    cloud_free(&points);
}

TEST(a_step_is_that_of_its_definition) {
    static const int64_t sizes[] = {0, 1, 2, 3, 33, 300};
    devices all = devices_open(0);
    try_families(&all, sizes, 6, try_case);
    devices_close(&all);
}

// ---- What must come out

static double energy_of(const float* points, int64_t count, double radius) {
    double energy = 0;
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < i; j++) {
            double distance2 = 0;
            for (int a = 0; a < 3; a++) {
                const double d = (double)points[3 * i + a] - (double)points[3 * j + a];
                distance2 += d * d;
            }
            const double part = 1 - sqrt(distance2) / radius;
            energy += part > 0 ? part * part : 0;
        }
    return energy;
}

TEST(energies_fall_and_forces_cancel_out) {
    sap_device* device = NULL;
    static float at[3 * MOST], next[3 * MOST];
    static int32_t counts[MOST];
    const double radius = 0.15;
    const sap_relax_options o = {.radius = radius, .is_free = true};
    uint64_t state = 3;
    for (int64_t i = 0; i < MOST; i++) {
        at[3 * i] = (float)random_unit(&state);
        at[3 * i + 1] = (float)random_unit(&state);
        at[3 * i + 2] = 0;
    }
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &device), SAP_OK);
    double energy = energy_of(at, MOST, radius);
    for (int step = 0; step < 20; step++) {
        sap_tree* tree = NULL;
        const sap_gather_options g = {.radius = radius};
        CHECK_STATUS(sap_tree_build(device, (sap_points){at, MOST, 3, 0}, NULL, &tree), SAP_OK);
        CHECK_STATUS(sap_gather_self(tree, &g, &(sap_gathered){.counts = counts}), SAP_OK);
        sap_tree_free(tree);
        CHECK_STATUS(sap_cloud_relax(device, (sap_points){at, MOST, 3, 0}, &o, next, NULL, NULL), SAP_OK);
        const double after = energy_of(next, MOST, radius);
        NOTE("step %d: %g, then %g", step, energy, after);
        CHECK(after < energy);
        energy = after;
        // A move is a force over twice the number of those that exert it.
        double sum[2] = {0, 0};
        int32_t fewest = counts[0];
        for (int64_t i = 1; i < MOST; i++) fewest = counts[i] < fewest ? counts[i] : fewest;
        for (int64_t i = 0; i < MOST; i++)
            for (int a = 0; a < 2; a++)
                sum[a] += ((double)next[3 * i + a] - (double)at[3 * i + a]) * (double)(counts[i] - 1);
        CHECK(step > 0 || fewest > 2); // a point with fewer than two others stays
        if (fewest > 2) CHECK(fabs(sum[0]) < 1e-4 && fabs(sum[1]) < 1e-4);
        for (int i = 0; i < MOST; i++) CHECK(next[3 * i + 2] == 0);
        memcpy(at, next, sizeof at);
    }
    sap_device_close(device);
}

// The least distance of two points, and how far points are from the sphere of radius 1.
static double least_distance(sap_device* device, const float* points, int64_t count, double* off) {
    sap_tree* tree = NULL;
    float* distance2 = malloc((size_t)count * sizeof *distance2);
    double least = (double)INFINITY;
    *off = 0;
    CHECK_STATUS(sap_tree_build(device, (sap_points){points, count, 3, 0}, NULL, &tree), SAP_OK);
    CHECK_STATUS(sap_nearest_self(tree, &(sap_search){.k = 1}, NULL, distance2), SAP_OK);
    for (int64_t i = 0; i < count; i++) {
        const double x = (double)points[3 * i], y = (double)points[3 * i + 1], z = (double)points[3 * i + 2];
        least = fmin(least, sqrt((double)distance2[i]));
        *off = fmax(*off, fabs(sqrt(x * x + y * y + z * z) - 1));
    }
    sap_tree_free(tree);
    free(distance2);
    return least;
}

TEST(points_of_a_sphere_spread_over_it) {
    enum { POINTS = 3000, MORE = 2000 };
    devices all = devices_open(3);
    float* points = malloc((size_t)3 * POINTS * sizeof *points);
    float *moved = malloc((size_t)3 * (POINTS + MORE) * sizeof *moved),
          *normals = malloc((size_t)3 * (POINTS + MORE) * 4);
    float* first = malloc((size_t)3 * (POINTS + MORE) * sizeof *first);
    uint64_t state = 9;
    for (int64_t i = 0; i < POINTS; i++) {
        double p[3], length;
        do {
            length = 0;
            for (int a = 0; a < 3; a++) {
                p[a] = 2 * random_unit(&state) - 1;
                length += p[a] * p[a];
            }
        } while (length > 1 || length < 0.01);
        for (int a = 0; a < 3; a++) points[3 * i + a] = (float)(p[a] / sqrt(length));
    }
    for (int d = 0; d < all.count; d++) {
        double off, before, after;
        sap_relax_info info;
        const sap_relax_options o = {.steps = 60, .more = MORE};
        CHECK_STATUS(sap_cloud_relax(all.open[d], (sap_points){points, POINTS, 3, 0}, &o, moved, normals, &info),
                     SAP_OK);
        before = least_distance(all.open[d], points, POINTS, &off);
        after = least_distance(all.open[d], moved, POINTS + MORE, &off);
        // A hexagonal lattice of 5000 points on the sphere has distances of 0.054.
        NOTE("least distance %g, then %g; off %g; movement %g", before, after, off, info.movement);
        CHECK(info.steps == 60);
        if (d == 0) {
            const sap_relax_options rest = {.radius = 0.1, .steps = 1000, .tolerance = 0.01};
            CHECK_STATUS(sap_cloud_relax(all.open[d], (sap_points){moved, POINTS, 3, 0}, &rest, first, NULL, &info),
                         SAP_OK);
            NOTE("%d steps, movement %g", info.steps, info.movement);
            CHECK(info.steps > 1 && info.steps < 1000 && info.movement < 0.01 * 0.1 && info.range == 0.1);
        }
        CHECK(before < 0.005 && after > 0.025);
        CHECK(off < 0.012); // where no point was given for 0.15 around
        for (int64_t i = 0; i < POINTS + MORE; i++) {
            double dot = 0;
            for (int a = 0; a < 3; a++) dot += (double)moved[3 * i + a] * (double)normals[3 * i + a];
            CHECK(fabs(dot) > 0.98);
        }
        if (d == 0) memcpy(first, moved, (size_t)3 * (POINTS + MORE) * sizeof *first);
        check_floats(moved, first, (int64_t)3 * (POINTS + MORE));
    }
    free(points);
    free(moved);
    free(normals);
    free(first);
    devices_close(&all);
}

// ---- How near points are to a surface that is known

enum { SURFACE_SPHERE, SURFACE_TORUS, SURFACE_PLANE, SURFACES };
static const double tube = 0.4; // of the torus, around a circle of radius 1

static void place_on(int surface, double noise, uint64_t* state, float* place) {
    double at[3] = {random_unit(state), random_unit(state), 0};
    const double turn = 6.283185307179586 * at[0], height = 2 * at[1] - 1, around = 6.283185307179586 * at[1];
    const double flat = surface == SURFACE_SPHERE ? sqrt(1 - height * height) : 1 + tube * cos(around);
    if (surface != SURFACE_PLANE) {
        at[0] = flat * cos(turn);
        at[1] = flat * sin(turn);
        at[2] = surface == SURFACE_SPHERE ? height : tube * sin(around);
    }
    at[2] += noise * (2 * random_unit(state) - 1);
    for (int a = 0; a < 3; a++) place[a] = (float)at[a];
}

// Root of the mean of squares of the distances from the surface.
static double off_surface(int surface, const float* points, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        const double x = (double)points[3 * i], y = (double)points[3 * i + 1], z = (double)points[3 * i + 2];
        const double beside = sqrt(x * x + y * y), ring = beside - 1;
        const double off = surface == SURFACE_SPHERE  ? sqrt(beside * beside + z * z) - 1
                           : surface == SURFACE_TORUS ? sqrt(ring * ring + z * z) - tube
                                                      : z;
        sum += off * off;
    }
    return sqrt(sum / (double)count);
}

// Points that are put back are no farther off a curved surface than those that only move along it: planes of tangents at the
// points given alone would leave them 2.5 times as far off.
TEST(points_come_back_to_curved_surfaces) {
    enum { POINTS = 3000 };
    static const double noises[SURFACES] = {0, 0, 0.01};
    devices all = devices_open(3);
    float* points = malloc((size_t)3 * POINTS * sizeof *points);
    float *moved = malloc((size_t)3 * POINTS * sizeof *moved), *first = malloc((size_t)3 * POINTS * sizeof *first);
    for (int surface = 0; surface < SURFACES; surface++) {
        uint64_t state = 5;
        double off[2] = {0, 0};
        for (int64_t i = 0; i < POINTS; i++) place_on(surface, noises[surface], &state, points + 3 * i);
        const double given = off_surface(surface, points, POINTS);
        for (int d = 0; d < all.count; d++)
            for (int is_free = 1; is_free >= 0; is_free--) {
                const sap_relax_options o = {.steps = TEST_SLOW ? 10 : 40, .is_free = is_free};
                CHECK_STATUS(sap_cloud_relax(all.open[d], (sap_points){points, POINTS, 3, 0}, &o, moved, NULL, NULL),
                             SAP_OK);
                off[is_free] = off_surface(surface, moved, POINTS);
                if (is_free) continue;
                if (d == 0) memcpy(first, moved, (size_t)3 * POINTS * sizeof *first);
                check_floats(moved, first, (int64_t)3 * POINTS);
            }
        NOTE("surface %d: given %g off, free %g, put back %g", surface, given, off[1], off[0]);
        if (surface == SURFACE_SPHERE) CHECK(off[0] < 0.8 * off[1]);
        if (surface == SURFACE_TORUS) CHECK(off[0] < 1.1 * off[1]);
        if (surface == SURFACE_PLANE) CHECK(off[0] < 1.3 * given);
    }
    free(points);
    free(moved);
    free(first);
    devices_close(&all);
}

// A border pushes points out in each step, from where they are put back. They rest nevertheless.
TEST(points_rest_on_open_surfaces) {
    enum { POINTS = 400 };
    devices all = devices_open(3);
    static float points[3 * POINTS], moved[3 * POINTS];
    uint64_t state = 5;
    for (int64_t i = 0; i < POINTS; i++) place_on(SURFACE_PLANE, 0, &state, points + 3 * i);
    for (int d = 0; d < all.count; d++)
        for (int c = 0; c < 2; c++) {
            const sap_relax_options o = {.radius = c ? 0.15 : 0, .steps = 1000, .tolerance = 0.01};
            sap_relax_info info;
            CHECK_STATUS(sap_cloud_relax(all.open[d], (sap_points){points, POINTS, 3, 0}, &o, moved, NULL, &info),
                         SAP_OK);
            NOTE("device %d: %d steps, movement %g of %g", d, info.steps, info.movement, info.range);
            CHECK(info.steps < 200 && info.movement < 0.01 * info.range);
            for (int64_t i = 0; i < POINTS; i++) CHECK(moved[3 * i + 2] == 0);
        }
    devices_close(&all);
}

TEST(steps_follow_each_other) {
    enum { POINTS = 400, K = 12 };
    sap_device* device = NULL;
    cloud points = cloud_of_family(FAMILY_UNIFORM, POINTS, 3, 32, 0, 4);
    static float at[3 * POINTS], next[3 * POINTS], all[3 * POINTS];
    sap_relax_options o = {.k = K, .steps = 3, .is_free = true};
    sap_relax_info info;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &device), SAP_OK);
    CHECK_STATUS(sap_cloud_relax(device, cloud_f32(&points), &o, all, NULL, &info), SAP_OK);
    CHECK(info.steps == 3 && info.movement > 0 && info.range == 0);
    o.steps = 1;
    memcpy(at, points.coords, sizeof at);
    for (int i = 0; i < 3; i++) {
        CHECK_STATUS(sap_cloud_relax(device, (sap_points){at, POINTS, 3, 0}, &o, next, NULL, NULL), SAP_OK);
        memcpy(at, next, sizeof at);
    }
    check_floats(at, all, (int64_t)3 * POINTS);
    for (int is_free = 0; is_free < 2; is_free++) {
        o = (sap_relax_options){.k = K, .steps = 100, .tolerance = 1, .is_free = is_free};
        CHECK_STATUS(sap_cloud_relax(device, cloud_f32(&points), &o, all, NULL, &info), SAP_OK);
        CHECK(info.steps == (is_free ? 1 : 2) && info.range > 0 && info.movement < info.range);
    }
    cloud_free(&points);
    sap_device_close(device);
}

// ---- Bad input

// A square of points keeps its size, but for half the range of the forces.
TEST(surfaces_with_borders_stay) {
    enum { SIDE = 30, POINTS = SIDE * SIDE };
    devices all = devices_open(3);
    static float points[3 * POINTS], moved[3 * POINTS];
    uint64_t state = 4;
    for (int i = 0; i < POINTS; i++)
        for (int a = 0; a < 3; a++) points[3 * i + a] = a < 2 ? (float)random_unit(&state) : 0.0f;
    static const sap_relax_options cases[] = {{.steps = TEST_SLOW ? 40 : 200},
                                              {.steps = TEST_SLOW ? 40 : 200, .radius = 0.1},
                                              {.steps = 3, .radius = 1e20},
                                              {.steps = 1, .radius = 1e38}};
    for (int d = 0; d < all.count; d++)
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
            // Of 900 points in the unit square the 16th nearest is no farther than this even in a corner.
            const double range = c == 0 ? 0.3 : c == 1 ? 0.1 : 1.5;
            NOTE("device %d, case %zu", d, c);
            CHECK_STATUS(sap_cloud_relax(all.open[d], (sap_points){points, POINTS, 3, 0}, &cases[c], moved, NULL, NULL),
                         SAP_OK);
            for (int i = 0; i < 3 * POINTS; i++) {
                const double beyond = i % 3 == 2 ? 1e-6 : range / 2;
                CHECK((double)moved[i] >= -beyond && (double)moved[i] <= (i % 3 == 2 ? 0 : 1) + beyond);
            }
        }
    devices_close(&all);
}

TEST(bad_arguments_are_refused) {
    stage s;
    open_stage(&s);
    float moved[300];
    const sap_points points = {s.coords, 10, 3, 0};
    sap_relax_options o = {0};
    CHECK_STATUS(sap_cloud_relax(NULL, points, NULL, moved, NULL, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cloud_relax(s.device, points, NULL, moved, NULL, NULL), SAP_OK);
    CHECK_STATUS(sap_cloud_relax(s.device, (sap_points){NULL, 0, 3, 0}, NULL, NULL, NULL, NULL), SAP_OK);
    o = (sap_relax_options){.more = 80};
    CHECK_STATUS(sap_cloud_relax(s.device, points, &o, moved, NULL, NULL), SAP_OK);
    REFUSED(sap_cloud_relax(s.device, points, NULL, NULL, NULL, NULL), SAP_ERROR_ARGUMENT, "moved");
    REFUSED(sap_cloud_relax(s.device, (sap_points){NULL, 5, 3, 0}, NULL, moved, NULL, NULL), SAP_ERROR_ARGUMENT,
            "points");
    REFUSED(sap_cloud_relax(s.device, (sap_points){s.coords, 5, 2, 0}, NULL, moved, NULL, NULL), SAP_ERROR_ARGUMENT,
            "points.dims");
    o = (sap_relax_options){.k = -1};
    REFUSED(sap_cloud_relax(s.device, points, &o, moved, NULL, NULL), SAP_ERROR_ARGUMENT, "options.k");
    o = (sap_relax_options){.radius = (double)INFINITY};
    REFUSED(sap_cloud_relax(s.device, points, &o, moved, NULL, NULL), SAP_ERROR_ARGUMENT, "options.radius");
    o = (sap_relax_options){.steps = -1};
    REFUSED(sap_cloud_relax(s.device, points, &o, moved, NULL, NULL), SAP_ERROR_ARGUMENT, "options.steps");
    o = (sap_relax_options){.step = 3};
    REFUSED(sap_cloud_relax(s.device, points, &o, moved, NULL, NULL), SAP_ERROR_ARGUMENT, "options.step");
    o = (sap_relax_options){.tolerance = (double)NAN};
    REFUSED(sap_cloud_relax(s.device, points, &o, moved, NULL, NULL), SAP_ERROR_ARGUMENT, "options.tolerance");
    o = (sap_relax_options){.more = 81};
    REFUSED(sap_cloud_relax(s.device, points, &o, moved, NULL, NULL), SAP_ERROR_ARGUMENT, "options.more");
    o = (sap_relax_options){.reserved = {1}};
    REFUSED(sap_cloud_relax(s.device, points, &o, moved, NULL, NULL), SAP_ERROR_ARGUMENT, "options.reserved");
    s.coords[7] = NAN;
    REFUSED(sap_cloud_relax(s.device, points, NULL, moved, NULL, NULL), SAP_ERROR_NOT_FINITE, "2");
    close_stage(&s);
}

// A step alone tells how much of it is done.
TEST(progress_is_told_within_steps) {
    enum { POINTS = 60000 };
    float* coords = malloc((size_t)3 * POINTS * sizeof *coords);
    uint64_t state = 4;
    for (int i = 0; i < 3 * POINTS; i++) coords[i] = i % 3 == 2 ? 0 : (float)random_unit(&state);
    for (int more = 0; more < 2; more++) {
        progress_host host = {.stop_at = 0};
        sap_device* device = NULL;
        const sap_device_options options = {
            .processor = SAP_CPU, .threads = 1, .progress = progress_host_report, .progress_user = &host};
        CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
        const sap_relax_options o = {.steps = 1, .more = more};
        float* moved = malloc((size_t)3 * (POINTS + 1) * sizeof *moved);
        CHECK_STATUS(sap_cloud_relax(device, (sap_points){coords, POINTS, 3, 0}, &o, moved, NULL, NULL), SAP_OK);
        CHECK(host.reports > 40 && host.last == 1);
        // The next call is told of as ever.
        sap_tree* tree = NULL;
        host.last = 0;
        CHECK_STATUS(sap_tree_build(device, (sap_points){coords, POINTS, 3, 0}, NULL, &tree), SAP_OK);
        CHECK(host.last == 1);
        sap_tree_free(tree);
        sap_device_close(device);
        free(moved);
    }
    free(coords);
}

TEST(progress_cancels) {
    enum { POINTS = 20000 };
    float* coords = malloc((size_t)3 * POINTS * sizeof *coords);
    uint64_t state = 4;
    progress_host host = {.stop_at = 3};
    sap_device* device = NULL;
    const sap_device_options options = {
        .processor = SAP_CPU, .threads = 2, .progress = progress_host_report, .progress_user = &host};
    for (int i = 0; i < 3 * POINTS; i++) coords[i] = (float)random_unit(&state);
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    const sap_relax_options o = {.steps = 5, .is_free = true};
    CHECK_STATUS(sap_cloud_relax(device, (sap_points){coords, POINTS, 3, 0}, &o, coords, NULL, NULL),
                 SAP_ERROR_CANCELLED);
    sap_device_close(device);
    free(coords);
}

TEST_MAIN()
