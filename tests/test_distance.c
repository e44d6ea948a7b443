// Distances of clouds and meshes: those of brute force, bit for bit, on every device; closed forms; bad input.
#include "cases.h"
#include "mesh_families.h"
#include "ray_oracle.h"
#include "sapwood/cloud.h"
#include "stage.h"

enum { MOST = 400, QUERIES = 60 };

static devices cpus_open(int32_t threads) {
    devices all = devices_open(threads);
    if (all.count > 1 && is_gpu(all.open[all.count - 1])) sap_device_close(all.open[--all.count]);
    return all;
}

// ---- What distances say together, in the words of cloud.h

static int ascending(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

static sap_distance_info expect_info(double* distances, int64_t count, const sap_distance_options* o) {
    sap_distance_info e = {.farthest = -1};
    double sizes[MOST], sum = 0, squares = 0, sum_of_sizes = 0;
    for (int64_t i = 0; i < count; i++) {
        const double size = fabs(distances[i]);
        if (o->radius > 0 && size > o->radius) distances[i] = (double)INFINITY;
        if (isinf(distances[i])) continue;
        sizes[e.count++] = size;
        sum += distances[i];
        sum_of_sizes += size;
        squares += size * size;
        if (e.farthest < 0 || size > e.greatest) e.greatest = size, e.farthest = i;
    }
    if (!e.count) return e;
    e.mean = sum_of_sizes / (double)e.count;
    e.mean_square = squares / (double)e.count;
    e.bias = sum / (double)e.count;
    qsort(sizes, (size_t)e.count, sizeof *sizes, ascending);
    int64_t rank = 1;
    while ((double)rank / (double)e.count < o->quantile) rank++;
    if (o->quantile > 0) e.quantile = sizes[rank - 1];
    return e;
}

static void check_info(const sap_distance_info* got, const sap_distance_info* e) {
    CHECK_EQUAL(got->count, e->count);
    CHECK_EQUAL(got->farthest, e->farthest);
    CHECK(got->mean == e->mean && got->mean_square == e->mean_square && got->bias == e->bias);
    CHECK(got->quantile == e->quantile && got->greatest == e->greatest);
}

static void check_distances(const double* got, const double* expected, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        if (got[i] == expected[i]) continue;
        NOTE("distance %lld is %a, not %a", (long long)i, got[i], expected[i]);
        CHECK(false);
        return;
    }
}

static sap_distance_options options_of(double radius, uint64_t chance) {
    static const double quantiles[] = {0, 0.5, 0.95, 1};
    sap_distance_options o = {.quantile = quantiles[chance % 4]};
    if (chance / 4 % 2) o.radius = radius;
    return o;
}

// ---- Clouds

static void brute_force(const cloud* to, const uint8_t* dropped_to, const cloud* from, const uint8_t* dropped_from,
                        double* distances) {
    const oracle_rules rules = {.dropped = dropped_to, .limit2 = oracle_limit2((double)INFINITY, to->real_bits)};
    for (int64_t i = 0; i < from->count; i++) {
        int32_t id = -1;
        float narrow = INFINITY;
        double wide = (double)INFINITY;
        CHECK(oracle_nearest(to, from, i, 1, &rules, &id, to->real_bits == 64 ? (void*)&wide : (void*)&narrow));
        const bool is_there = id >= 0 && !(dropped_from && dropped_from[i]);
        distances[i] = is_there ? sqrt(to->real_bits == 64 ? wide : (double)narrow) : (double)INFINITY;
    }
}

static sap_status measure(const sap_tree* to, const cloud* from, const sap_distance_options* o, double* distances,
                          sap_distance_info* info) {
    return from->real_bits == 64 ? sap_cloud_distance_f64(to, cloud_f64(from), o, distances, info)
                                 : sap_cloud_distance(to, cloud_f32(from), o, distances, info);
}

static void check_comparison(const sap_tree* a, const sap_tree* b, const sap_distance_options* o,
                             const sap_distance_info* forth, const sap_distance_info* back) {
    sap_comparison got;
    CHECK_STATUS(sap_cloud_compare(a, b, o, NULL, NULL, &got), SAP_OK);
    check_info(&got.forth, forth);
    check_info(&got.back, back);
    CHECK(got.hausdorff == fmax(forth->greatest, back->greatest));
    CHECK(got.quantile == fmax(forth->quantile, back->quantile));
    CHECK(got.chamfer == forth->mean + back->mean && got.chamfer_square == forth->mean_square + back->mean_square);
}

static void try_case(const devices* all, const search_case* c) {
    uint8_t dropped[MOST] = {0}, dropped_others[MOST] = {0};
    double expected[QUERIES] = {0}, forth[MOST] = {0}, back[MOST] = {0}, got[MOST];
    cloud points = case_points(c), queries = case_queries(&points, QUERIES, c->chance);
    cloud others = cloud_of_family(c->kind, c->size / 2 + 3, c->dims, c->real_bits, 0, c->chance + 1);
    const sap_distance_options o = options_of(case_radius(&points, &queries, c->chance), c->chance / 7);
    if (c->options.drop_duplicates) {
        oracle_duplicates(&points, dropped);
        oracle_duplicates(&others, dropped_others);
    }
    brute_force(&points, dropped, &queries, NULL, expected);
    brute_force(&others, dropped_others, &points, dropped, forth);
    brute_force(&points, dropped, &others, dropped_others, back);
    const sap_distance_info e = expect_info(expected, QUERIES, &o), e_forth = expect_info(forth, points.count, &o),
                            e_back = expect_info(back, others.count, &o);
    for (int d = 0; d < all->count; d++) {
        sap_tree *tree = NULL, *other = NULL;
        sap_distance_info info;
        NOTE("%s n %d dims %d f%d split %d drop %d radius %g device %d", family_name(c->kind), (int)c->size, c->dims,
             c->real_bits, (int)c->options.split, c->options.drop_duplicates, o.radius, d);
        CHECK_STATUS(build(all->open[d], &points, &c->options, &tree), SAP_OK);
        CHECK_STATUS(build(all->open[d], &others, &c->options, &other), SAP_OK);
        memset(got, 0x55, sizeof got);
        CHECK_STATUS(measure(tree, &queries, &o, got, &info), SAP_OK);
        check_distances(got, expected, QUERIES);
        check_info(&info, &e);
        CHECK_STATUS(measure(tree, &queries, &o, NULL, &info), SAP_OK);
        check_info(&info, &e);
        check_comparison(tree, other, &o, &e_forth, &e_back);
        sap_comparison both;
        double got_back[MOST];
        memset(got, 0x55, sizeof got);
        CHECK_STATUS(sap_cloud_compare(tree, other, &o, got, got_back, &both), SAP_OK);
        check_distances(got, forth, points.count);
        check_distances(got_back, back, others.count);
        sap_tree_free(tree);
        sap_tree_free(other);
    }
    cloud_free(&points);
    cloud_free(&queries);
    cloud_free(&others);
}

TEST(distances_of_clouds_are_those_of_brute_force) {
    devices all = cpus_open(0);
    int tried = 0;
    for (int i = 0; i < CASE_COUNT; i++) {
        search_case c;
        if (!case_choose(i, &c) || c.size > 100) continue;
        try_case(&all, &c);
        tried++;
    }
    CHECK(tried > 0);
    devices_close(&all);
}

TEST(a_lattice_and_its_shift) {
    // Points of a lattice of side 1, and the same shifted by a quarter along x: all distances are 1/4, but for one point
    // that is alone.
    enum { SIDE = 6, COUNT = SIDE * SIDE * SIDE };
    float a[3 * COUNT], b[3 * COUNT + 3];
    for (int i = 0; i < COUNT; i++) {
        const int at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        for (int k = 0; k < 3; k++) a[3 * i + k] = b[3 * i + k] = (float)at[k];
        b[3 * i] += 0.25F;
    }
    b[3 * COUNT] = b[3 * COUNT + 1] = 0;
    b[3 * COUNT + 2] = -10;
    sap_device* device = NULL;
    sap_tree *tree = NULL, *other = NULL;
    sap_comparison c;
    CHECK_STATUS(sap_device_open(NULL, &device), SAP_OK);
    CHECK_STATUS(sap_tree_build(device, (sap_points){a, COUNT, 3, 0}, NULL, &tree), SAP_OK);
    CHECK_STATUS(sap_tree_build(device, (sap_points){b, COUNT + 1, 3, 0}, NULL, &other), SAP_OK);
    const sap_distance_options o = {.quantile = 0.95};
    CHECK_STATUS(sap_cloud_compare(tree, other, &o, NULL, NULL, &c), SAP_OK);
    CHECK(c.forth.count == COUNT && c.forth.mean == 0.25 && c.forth.greatest == 0.25 && c.forth.farthest == 0);
    CHECK(c.back.count == COUNT + 1 && c.back.greatest == 10 && c.back.farthest == COUNT && c.back.quantile == 0.25);
    CHECK(c.hausdorff == 10 && c.quantile == 0.25);
    CHECK(c.chamfer == 0.25 + (0.25 * COUNT + 10) / (COUNT + 1));
    CHECK(c.chamfer_square == 0.0625 + (0.0625 * COUNT + 100) / (COUNT + 1));
    sap_tree_free(tree);
    sap_tree_free(other);
    sap_device_close(device);
}

// ---- Meshes

static void try_mesh(sap_device* device, mesh_family kind, uint64_t seed) {
    sap_mesh mesh = mesh_of_family(kind, 300, seed);
    sap_mesh_tree* tree = NULL;
    float lower[3], upper[3], points[4 * MOST];
    double expected[MOST], got[MOST];
    uint8_t inside[MOST];
    uint64_t state = seed;
    oracle_box(&mesh, lower, upper);
    for (int i = 0; i < 4 * MOST; i++) {
        const int a = i % 4 % 3;
        points[i] = lower[a] + (upper[a] - lower[a]) * (float)(random_unit(&state) * 1.5 - 0.25);
    }
    points[4 * 7] = NAN;
    points[4 * 8 + 1] = -INFINITY;
    const sap_points from = {points, MOST, 3, 4};
    CHECK_STATUS(sap_mesh_tree_build(device, mesh, NULL, &tree), SAP_OK);
    CHECK_STATUS(sap_inside(tree, from, inside), SAP_OK);
    for (int is_signed = 0; is_signed < 2; is_signed++) {
        sap_distance_info info;
        for (int i = 0; i < MOST; i++) {
            expected[i] = sqrt((double)oracle_closest(&mesh, points + 4 * (int64_t)i).distance2);
            if (is_signed && inside[i]) expected[i] = -expected[i];
        }
        sap_distance_options o = options_of(fabs(expected[3]), seed);
        o.is_signed = is_signed;
        const sap_distance_info e = expect_info(expected, MOST, &o);
        NOTE("%s seed %d signed %d radius %g", mesh_family_name(kind), (int)seed, is_signed, o.radius);
        memset(got, 0x55, sizeof got);
        CHECK_STATUS(sap_cloud_distance_mesh(tree, from, &o, got, &info), SAP_OK);
        check_distances(got, expected, MOST);
        check_info(&info, &e);
        CHECK_STATUS(sap_cloud_distance_mesh(tree, from, &o, NULL, &info), SAP_OK);
        check_info(&info, &e);
    }
    sap_mesh_tree_free(tree);
    mesh_free(&mesh);
}

TEST(distances_to_meshes_are_those_of_brute_force) {
    devices all = cpus_open(0);
    for (int kind = 0; kind < MESH_FAMILIES; kind++)
        for (uint64_t seed = 0; seed < 8; seed++)
            try_mesh(all.open[seed % (uint64_t)all.count], (mesh_family)kind, seed);
    devices_close(&all);
}

TEST(a_ball_has_an_inside) {
    sap_mesh ball = mesh_of_family(MESH_BALL, 2000, 1);
    sap_device* device = NULL;
    sap_mesh_tree* tree = NULL;
    float lower[3], upper[3];
    double distances[2];
    oracle_box(&ball, lower, upper);
    float points[6];
    for (int a = 0; a < 3; a++) {
        points[a] = (lower[a] + upper[a]) / 2;
        points[3 + a] = upper[a] + 1;
    }
    CHECK_STATUS(sap_device_open(NULL, &device), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_build(device, ball, NULL, &tree), SAP_OK);
    sap_distance_info info;
    const sap_distance_options o = {.is_signed = true};
    CHECK_STATUS(sap_cloud_distance_mesh(tree, (sap_points){points, 2, 3, 0}, &o, distances, &info), SAP_OK);
    CHECK(distances[0] < 0 && distances[1] > 0);
    CHECK(info.bias == (distances[0] + distances[1]) / 2 && info.mean == (distances[1] - distances[0]) / 2);
    sap_mesh_tree_free(tree);
    sap_device_close(device);
    mesh_free(&ball);
}

// ---- Bad input

// 0.07 * 100 is above 7 in doubles, but 7 of 100 are 0.07 of them.
TEST(quantiles_are_parts_of_the_points) {
    stage s;
    static float coords[1000];
    const float zero[3] = {0, 0, 0};
    open_stage(&s);
    sap_tree* tree = NULL;
    CHECK_STATUS(sap_tree_build(s.device, (sap_points){zero, 1, 1, 0}, NULL, &tree), SAP_OK);
    for (int i = 0; i < 1000; i++) coords[i] = (float)(i + 1);
    for (int count = 1; count <= 1000; count += count < 20 ? 1 : 49)
        for (int part = 1; part <= count; part++) {
            const sap_distance_options o = {.quantile = (double)part / (double)count};
            sap_distance_info info;
            NOTE("%d of %d", part, count);
            CHECK_STATUS(sap_cloud_distance(tree, (sap_points){coords, count, 1, 0}, &o, NULL, &info), SAP_OK);
            CHECK(info.quantile == (double)part);
        }
    const double quantiles[4] = {0x1p-1074, nextafter(0.07, 0), nextafter(0.07, 1), nextafter(1, 0)};
    const double expected[4] = {1, 7, 8, 100};
    for (int i = 0; i < 4; i++) {
        const sap_distance_options o = {.quantile = quantiles[i]};
        sap_distance_info info;
        CHECK_STATUS(sap_cloud_distance(tree, (sap_points){coords, 100, 1, 0}, &o, NULL, &info), SAP_OK);
        CHECK(info.quantile == expected[i]);
    }
    sap_tree_free(tree);
    close_stage(&s);
}

TEST(bad_arguments_are_refused) {
    stage s;
    open_stage(&s);
    static const int32_t corners[3] = {0, 1, 2};
    sap_mesh_tree* mesh = NULL;
    sap_tree* flat = NULL;
    sap_comparison c;
    sap_distance_info info;
    double distances[10];
    const sap_points from = {s.coords, 10, 3, 0};
    CHECK_STATUS(sap_mesh_tree_build(s.device, (sap_mesh){s.coords, 10, corners, 1}, NULL, &mesh), SAP_OK);
    CHECK_STATUS(sap_tree_build(s.device, (sap_points){s.coords, 10, 2, 0}, NULL, &flat), SAP_OK);
    CHECK_STATUS(sap_cloud_distance(NULL, from, NULL, distances, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cloud_distance_mesh(NULL, from, NULL, distances, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cloud_compare(NULL, s.tree, NULL, NULL, NULL, &c), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cloud_distance(s.tree, from, NULL, NULL, NULL), SAP_OK);
    CHECK_STATUS(sap_cloud_distance(s.tree, (sap_points){NULL, 0, 3, 0}, NULL, NULL, &info), SAP_OK);
    CHECK(info.count == 0 && info.farthest == -1);
    CHECK_STATUS(sap_cloud_distance_mesh(mesh, (sap_points){NULL, 0, 3, 0}, NULL, NULL, &info), SAP_OK);
    CHECK(info.count == 0 && info.farthest == -1);
    REFUSED(sap_cloud_compare(s.tree, NULL, NULL, NULL, NULL, &c), SAP_ERROR_ARGUMENT, "b:");
    REFUSED(sap_cloud_compare(s.tree, s.tree, NULL, NULL, NULL, NULL), SAP_ERROR_ARGUMENT, "comparison");
    REFUSED(sap_cloud_compare(s.tree, flat, NULL, NULL, NULL, &c), SAP_ERROR_ARGUMENT, "dimensions");
    REFUSED(sap_cloud_compare(s.tree, s.tree_f64, NULL, NULL, NULL, &c), SAP_ERROR_ARGUMENT, "bit");
    REFUSED(sap_cloud_distance(s.tree_f64, from, NULL, distances, NULL), SAP_ERROR_ARGUMENT, "queries");
    REFUSED(sap_cloud_distance(flat, from, NULL, distances, NULL), SAP_ERROR_ARGUMENT, "queries");
    REFUSED(sap_cloud_distance(s.tree, (sap_points){NULL, 3, 3, 0}, NULL, distances, NULL), SAP_ERROR_ARGUMENT,
            "queries");
    REFUSED(sap_cloud_distance_mesh(mesh, (sap_points){s.coords, 10, 2, 0}, NULL, distances, NULL), SAP_ERROR_ARGUMENT,
            "from.dims");
    REFUSED(sap_cloud_distance_mesh(mesh, (sap_points){NULL, 3, 3, 0}, NULL, distances, NULL), SAP_ERROR_ARGUMENT,
            "from");
    sap_distance_options o = {.radius = -1};
    REFUSED(sap_cloud_distance(s.tree, from, &o, distances, NULL), SAP_ERROR_ARGUMENT, "options.radius");
    REFUSED(sap_cloud_distance_mesh(mesh, from, &o, distances, NULL), SAP_ERROR_ARGUMENT, "options.radius");
    REFUSED(sap_cloud_compare(s.tree, s.tree, &o, NULL, NULL, &c), SAP_ERROR_ARGUMENT, "options.radius");
    o = (sap_distance_options){.quantile = 1.5};
    REFUSED(sap_cloud_distance(s.tree, from, &o, distances, NULL), SAP_ERROR_ARGUMENT, "options.quantile");
    o = (sap_distance_options){.quantile = (double)NAN};
    REFUSED(sap_cloud_distance(s.tree, from, &o, distances, NULL), SAP_ERROR_ARGUMENT, "options.quantile");
    o = (sap_distance_options){.is_signed = true};
    REFUSED(sap_cloud_distance(s.tree, from, &o, distances, NULL), SAP_ERROR_ARGUMENT, "options.is_signed");
    REFUSED(sap_cloud_distance_f64(s.tree_f64, (sap_points_f64){s.coords_f64, 10, 3, 0}, &o, distances, NULL),
            SAP_ERROR_ARGUMENT, "options.is_signed");
    REFUSED(sap_cloud_compare(s.tree, s.tree, &o, NULL, NULL, &c), SAP_ERROR_ARGUMENT, "options.is_signed");
    o = (sap_distance_options){.reserved = {0, 0, 0, 1}};
    REFUSED(sap_cloud_distance(s.tree, from, &o, distances, NULL), SAP_ERROR_ARGUMENT, "options.reserved");
    sap_mesh_tree_free(mesh);
    sap_tree_free(flat);
    close_stage(&s);
}

TEST_MAIN()
