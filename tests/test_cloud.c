// Normals and covariances: the same bits as sums over brute force neighbours in the order that cloud.h states, on every
// device; closed forms; directions; bad input.
#include "cases.h"
#include "cloud/axes.h"
#include "progress_host.h"
#include "sapwood/cloud.h"
#include "stage.h"

enum { MOST = 1000 };

// All results of a call.
typedef struct shapes {
    float normals[3 * MOST], directions[3 * MOST], covariances[6 * MOST], eigenvalues[3 * MOST], curvatures[MOST],
        planarities[MOST], linearities[MOST];
    int32_t counts[MOST];
    uint8_t kinds[MOST];
} shapes;

static sap_cloud_axes axes_of(shapes* s) {
    return (sap_cloud_axes){.normals = s->normals,
                            .directions = s->directions,
                            .covariances = s->covariances,
                            .eigenvalues = s->eigenvalues,
                            .curvatures = s->curvatures,
                            .planarities = s->planarities,
                            .linearities = s->linearities,
                            .counts = s->counts,
                            .kinds = s->kinds};
}

// ---- The oracle

typedef struct neighbors_of {
    int64_t found;
    int32_t ids[MOST];
    double distance2[MOST];
} neighbors_of;

static double weight_of(const sap_normals_options* o, const neighbors_of* n, int64_t j) {
    double weight = o->weights ? (double)o->weights[n->ids[j]] : 1;
    if (o->falloff == SAP_FALLOFF_BIWEIGHT) {
        const double part = 1 - n->distance2[j] * (1 / (o->radius * o->radius));
        weight = part > 0 ? weight * (part * part) : 0;
    }
    return weight;
}

static sap_symmetric sum_up(const cloud* points, int64_t id, const sap_normals_options* o, const neighbors_of* n,
                            double scale, double* weight) {
    double first[3] = {0, 0, 0}, second[3][3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    *weight = 0;
    for (int64_t j = 0; j < n->found; j++) {
        const double w = weight_of(o, n, j);
        double d[3];
        for (int a = 0; a < 3; a++) d[a] = (cloud_get(points, n->ids[j], a) - cloud_get(points, id, a)) * scale;
        *weight += w;
        for (int a = 0; a < 3; a++) first[a] += d[a] * w;
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) second[a][b] += d[a] * w * d[b];
    }
    const double one = *weight > 0 ? *weight : 1;
    for (int a = 0; a < 3; a++) first[a] = first[a] / one;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) second[a][b] = second[a][b] / one - first[a] * first[b];
    for (int a = 0; a < 3; a++)
        if (second[a][a] < 0) second[a][a] = 0;
    // zx, not xz: the order in which a product of three is rounded.
    return (sap_symmetric){second[0][0], second[0][1], second[2][0], second[1][1], second[1][2], second[2][2]};
}

static void expect_row(const cloud* points, int64_t id, const sap_normals_options* o, const neighbors_of* n,
                       shapes* s) {
    double weight, scale = 1, off2 = 0;
    sap_symmetric m = sum_up(points, id, o, n, scale, &weight);
    if (points->real_bits == 64 && !(m.xx + m.yy + m.zz < 1e300)) {
        scale = 0x1p-60;
        m = sum_up(points, id, o, n, scale, &weight);
    }
    const sap_principal p = sap_principal_of(m);
    const double least = p.least > 0 ? p.least : 0, middle = p.middle > least ? p.middle : least,
                 greatest = p.greatest > 0 ? p.greatest : 0, sum = least + middle + greatest;
    const sap_place3 across = sap_cross3(p.least_axis, p.greatest_axis);
    const double beside[3] = {across.x, across.y, across.z};
    for (int a = 0; a < 3; a++) {
        const double off = cloud_get(points, id, a) * scale * beside[a];
        off2 += off * off;
    }
    const double half = points->real_bits == 32 ? 0x1p-24 : 0x1p-53;
    const double noise = half * half * (off2 + 16 * p.greatest) + 0x1p-48 * p.greatest;
    const int kind = n->found < 3 || !(weight > 0) ? SAP_NEIGHBORHOOD_FEW
                     : !(p.greatest > 0)           ? SAP_NEIGHBORHOOD_POINT
                     : p.middle <= noise           ? SAP_NEIGHBORHOOD_LINE
                                                   : SAP_NEIGHBORHOOD_SURFACE;
    const double matrix[6] = {m.xx, m.xy, m.xz, m.yy, m.yz, m.zz}, back = 1 / (scale * scale);
    const double normal[3] = {p.least_axis.x, p.least_axis.y, p.least_axis.z};
    const double direction[3] = {p.greatest_axis.x, p.greatest_axis.y, p.greatest_axis.z};
    const double values[3] = {least, middle, greatest > middle ? greatest : middle};
    for (int a = 0; a < 6; a++) s->covariances[6 * id + a] = (float)(matrix[a] * back);
    for (int a = 0; a < 3; a++) {
        s->normals[3 * id + a] = kind == SAP_NEIGHBORHOOD_SURFACE ? (float)normal[a] : 0;
        s->directions[3 * id + a] = kind >= SAP_NEIGHBORHOOD_LINE ? (float)direction[a] : 0;
        s->eigenvalues[3 * id + a] = (float)(values[a] * back);
    }
    s->curvatures[id] = sum > 0 ? (float)(least / sum) : 0;
    s->planarities[id] = greatest > 0 ? (float)((middle - least) / greatest) : 0;
    s->linearities[id] = greatest > middle ? (float)((greatest - middle) / greatest) : 0;
    s->counts[id] = (int32_t)n->found;
    s->kinds[id] = (uint8_t)kind;
}

// Neighbours by brute force. Those within a radius stand in the tree's own order, which sap_radius shows.
static void find_neighbors(const cloud* points, const uint8_t* dropped, const sap_tree* tree, int64_t id,
                           const sap_normals_options* o, neighbors_of* n) {
    float narrow[MOST] = {0};
    const cloud query = cloud_part(points, id, 1);
    const oracle_rules rules = {
        .dropped = dropped, .limit2 = oracle_limit2(o->radius > 0 ? o->radius : (double)INFINITY, points->real_bits)};
    if (o->k > 0) {
        const int32_t k = o->k < MOST ? o->k : MOST;
        void* distance2 = points->real_bits == 64 ? (void*)n->distance2 : (void*)narrow;
        CHECK(oracle_nearest(points, &query, 0, k, &rules, n->ids, distance2));
        for (n->found = 0; n->found < k && n->ids[n->found] >= 0;) n->found++;
        for (int64_t j = 0; j < n->found && points->real_bits == 32; j++) n->distance2[j] = (double)narrow[j];
        return;
    }
    sap_neighbors* found = NULL;
    int32_t* expected = malloc(MOST * sizeof *expected);
    CHECK_STATUS(radius_collect(tree, &query, o->radius, &found), SAP_OK);
    n->found = found->offsets[1];
    CHECK_EQUAL(n->found, oracle_radius(points, &query, 0, &rules, expected, NULL));
    for (int64_t j = 0; j < n->found; j++) {
        n->ids[j] = found->ids[j];
        n->distance2[j] = found->distance2 ? (double)found->distance2[j] : found->distance2_f64[j];
    }
    sap_neighbors_free(found);
    free(expected);
}

static void expect_shapes(const cloud* points, const uint8_t* dropped, const sap_tree* tree,
                          const sap_normals_options* o, shapes* s) {
    neighbors_of* n = malloc(sizeof *n);
    memset(s, 0, sizeof *s);
    for (int64_t i = 0; i < points->count; i++) {
        if (dropped[i]) continue;
        find_neighbors(points, dropped, tree, i, o, n);
        expect_row(points, i, o, n, s);
    }
    free(n);
}

static void check_floats(const float* got, const float* expected, int64_t count, const char* what) {
    for (int64_t i = 0; i < count; i++) {
        if (got[i] == expected[i] && !isnan(got[i])) continue;
        NOTE("%s[%lld] is %a, not %a", what, (long long)i, (double)got[i], (double)expected[i]);
        CHECK(false);
        return;
    }
}

static void check_shapes(const shapes* got, const shapes* expected, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        CHECK_EQUAL(got->counts[i], expected->counts[i]);
        CHECK_EQUAL(got->kinds[i], expected->kinds[i]);
    }
    check_floats(got->normals, expected->normals, 3 * n, "normals");
    check_floats(got->directions, expected->directions, 3 * n, "directions");
    check_floats(got->covariances, expected->covariances, 6 * n, "covariances");
    check_floats(got->eigenvalues, expected->eigenvalues, 3 * n, "eigenvalues");
    check_floats(got->curvatures, expected->curvatures, n, "curvatures");
    check_floats(got->planarities, expected->planarities, n, "planarities");
    check_floats(got->linearities, expected->linearities, n, "linearities");
}

static const int64_t sizes[] = {0, 1, 2, 3, 33, 65, MOST};

enum { SIZES = 7, MANNERS = 6 };

// Which neighbours, by number: the default, few, many, a radius, both with a falloff, weights.
static sap_normals_options manner(int which, const cloud* points, const float* weights, uint64_t chance) {
    const double radius = case_radius(points, points, chance);
    const double some = radius > 0 && radius < 1e30 ? radius : 0.25;
    switch (which) {
    case 0: return (sap_normals_options){.k = 16};
    case 1: return (sap_normals_options){.k = 3, .weights = weights};
    case 2: return (sap_normals_options){.k = 40};
    case 3: return (sap_normals_options){.radius = 3 * some};
    case 4: return (sap_normals_options){.k = 20, .radius = 5 * some, .falloff = SAP_FALLOFF_BIWEIGHT};
    default: return (sap_normals_options){.radius = 4 * some, .falloff = SAP_FALLOFF_BIWEIGHT, .weights = weights};
    }
}

static void try_case(const devices* all, family kind, int64_t size, int32_t real_bits, uint64_t chance) {
    static shapes got, expected;
    static float weights[MOST];
    uint8_t dropped[MOST] = {0};
    const cloud points = cloud_of_family(kind, size, 3, real_bits, chance % 3 ? 0 : 4, chance);
    const sap_tree_options options = {.split = (sap_split)(chance / 3 % 2),
                                      .leaf_size = chance / 6 % 2 ? 0 : 4,
                                      .drop_duplicates = chance / 12 % 4 == 0};
    if (options.drop_duplicates) oracle_duplicates(&points, dropped);
    for (int64_t i = 0; i < size; i++) weights[i] = (float)(i % 7) * 0.5f;
    for (int d = 0; d < all->count; d++) {
        sap_tree* tree = NULL;
        CHECK_STATUS(build(all->open[d], &points, &options, &tree), SAP_OK);
        const sap_normals_options o = manner((int)(chance / 48 % MANNERS), &points, weights, chance);
        NOTE("%s n %d f%d split %d leaf %d k %d radius %g device %d", family_name(kind), (int)size, real_bits,
             (int)options.split, options.leaf_size, o.k, o.radius, d);
        if (d == 0) expect_shapes(&points, dropped, tree, &o, &expected);
        memset(&got, 0x55, sizeof got);
        const sap_cloud_axes out = axes_of(&got);
        CHECK_STATUS(sap_cloud_shapes(tree, &o, &out), SAP_OK);
        check_shapes(&got, &expected, size);
        memset(&got, 0x55, sizeof got);
        CHECK_STATUS(sap_cloud_normals(tree, &o, got.normals, got.curvatures), SAP_OK);
        CHECK_STATUS(sap_cloud_covariances(tree, &o, got.covariances, got.eigenvalues), SAP_OK);
        check_floats(got.normals, expected.normals, 3 * size, "normals alone");
        check_floats(got.curvatures, expected.curvatures, size, "curvatures alone");
        check_floats(got.covariances, expected.covariances, 6 * size, "covariances alone");
        check_floats(got.eigenvalues, expected.eigenvalues, 3 * size, "eigenvalues alone");
        sap_tree_free(tree);
    }
    cloud_free((cloud*)(uintptr_t)&points);
}

TEST(shapes_are_those_of_brute_force) {
    devices all = devices_open(0);
    uint64_t state = 11;
    for (int kind = 0; kind < FAMILY_COUNT; kind++)
        for (int size = 0; size < SIZES; size++)
            for (int i = 0; i < (size == SIZES - 1 ? 2 : 6); i++) {
                const uint64_t chance = random_next(&state);
                if (CASE_STEP == 1 || chance % CASE_STEP == 0)
                    try_case(&all, (family)kind, sizes[size], i % 2 ? 64 : 32, chance);
            }
    devices_close(&all);
}

// ---- The solver

static void check_axes(sap_symmetric m, double largest) {
    const sap_principal p = sap_principal_of(m);
    const sap_place3 low = p.least_axis, high = p.greatest_axis;
    const double enough = 1e-14 * largest;
    const sap_place3 low_image = sap_times3(m, low), high_image = sap_times3(m, high);
    CHECK(fabs(sap_dot3(low, low) - 1) < 1e-14 && fabs(sap_dot3(high, high) - 1) < 1e-14);
    CHECK(fabs(sap_dot3(low, high)) < 1e-14);
    CHECK(p.least <= p.middle + enough && p.middle <= p.greatest + enough);
    CHECK(fabs(p.least + p.middle + p.greatest - (m.xx + m.yy + m.zz)) < enough);
    CHECK(fabs(low_image.x - p.least * low.x) < enough && fabs(low_image.y - p.least * low.y) < enough &&
          fabs(low_image.z - p.least * low.z) < enough);
    CHECK(fabs(high_image.x - p.greatest * high.x) < enough && fabs(high_image.y - p.greatest * high.y) < enough &&
          fabs(high_image.z - p.greatest * high.z) < enough);
}

TEST(axes_are_axes) {
    static const double values[][3] = {
        {0, 0, 0},     {1, 1, 1},         {0, 1, 1},         {0, 0, 1}, {0, 1, 2},  {1, 2, 3},         {1e-12, 1, 1},
        {0, 1e-12, 1}, {1, 1, 1 + 1e-14}, {1, 1 + 1e-14, 2}, {0, 0, 7}, {-1, 0, 1}, {1e-30, 1e-15, 1}, {0.5, 0.5, 0.5}};
    static const double sizes_of_values[] = {1, 1e-200, 1e-30, 1e30, 1e200};
    uint64_t state = 3;
    for (int i = 0; i < 20000; i++) {
        double v[3], q[4], length = 0;
        const double size = sizes_of_values[i % 5];
        for (int a = 0; a < 3; a++) v[a] = size * (i % 2 ? values[i / 5 % 14][a] : random_unit(&state));
        for (int a = 0; a < 4; a++) q[a] = i % 3 ? random_unit(&state) - 0.5 : (double)(i / 3 % 4 == a);
        for (int a = 0; a < 4; a++) length += q[a] * q[a];
        for (int a = 0; a < 4; a++) q[a] /= sqrt(length);
        // The matrix with these values in a frame that the quaternion turns.
        const double r[3][3] = {
            {1 - 2 * (q[2] * q[2] + q[3] * q[3]), 2 * (q[1] * q[2] - q[0] * q[3]), 2 * (q[1] * q[3] + q[0] * q[2])},
            {2 * (q[1] * q[2] + q[0] * q[3]), 1 - 2 * (q[1] * q[1] + q[3] * q[3]), 2 * (q[2] * q[3] - q[0] * q[1])},
            {2 * (q[1] * q[3] - q[0] * q[2]), 2 * (q[2] * q[3] + q[0] * q[1]), 1 - 2 * (q[1] * q[1] + q[2] * q[2])}};
        double m[3][3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                for (int c = 0; c < 3; c++) m[a][b] += r[a][c] * v[c] * r[b][c];
        NOTE("number %d", i);
        check_axes((sap_symmetric){m[0][0], m[0][1], m[0][2], m[1][1], m[1][2], m[2][2]}, 8 * size);
    }
}

// ---- Closed forms

typedef struct made_cloud {
    sap_device* device;
    sap_tree* tree;
    float *coords, *normals, *curvatures;
    int64_t count;
} made_cloud;

static void make_cloud(made_cloud* c, float* coords, int64_t count) {
    memset(c, 0, sizeof *c);
    c->coords = coords;
    c->count = count;
    c->normals = malloc((size_t)count * 3 * sizeof(float));
    c->curvatures = malloc((size_t)count * sizeof(float));
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU, .threads = 2}, &c->device), SAP_OK);
    CHECK_STATUS(sap_tree_build(c->device, (sap_points){coords, count, 3, 0}, NULL, &c->tree), SAP_OK);
}

static void free_cloud(made_cloud* c) {
    sap_tree_free(c->tree);
    sap_device_close(c->device);
    free(c->coords);
    free(c->normals);
    free(c->curvatures);
}

// A sphere by the spiral of Fibonacci, its middle at z = height.
static float* sphere(int64_t count, double radius, double height) {
    float* coords = malloc((size_t)count * 3 * sizeof(float));
    for (int64_t i = 0; i < count; i++) {
        const double z = 1 - (2 * (double)i + 1) / (double)count, r = sqrt(1 - z * z),
                     turn = 2.399963229728653 * (double)i;
        coords[3 * i] = (float)(radius * r * cos(turn));
        coords[3 * i + 1] = (float)(radius * r * sin(turn));
        coords[3 * i + 2] = (float)(radius * z + height);
    }
    return coords;
}

static double outward(const made_cloud* c, int64_t i, double height) {
    double dot = 0, length = 0;
    for (int a = 0; a < 3; a++) {
        const double x = (double)c->coords[3 * i + a] - (a == 2 ? height : 0);
        dot += x * (double)c->normals[3 * i + a];
        length += x * x;
    }
    return dot / sqrt(length);
}

TEST(normals_of_a_sphere_point_outward) {
    made_cloud c;
    make_cloud(&c, sphere(20000, 3, 10), 20000);
    const sap_normals_options o = {.k = 12, .orient = SAP_ORIENT_CONSISTENT};
    CHECK_STATUS(sap_cloud_normals(c.tree, &o, c.normals, c.curvatures), SAP_OK);
    for (int64_t i = 0; i < c.count; i++) {
        CHECK(outward(&c, i, 10) > 0.9999);
        CHECK(c.curvatures[i] >= 0 && c.curvatures[i] < 1e-3f);
    }
    // The curvature of a cap of a sphere: its height's variance over that of all.
    const double spacing = sqrt(4 * 3.14159265358979 * 9 / 20000), cap = spacing * sqrt(12 / 3.14159265358979);
    const double expected = cap * cap * cap * cap / (4 * 9.0) / 12 / (cap * cap / 2);
    CHECK(fabs((double)c.curvatures[10000] - expected) < 0.4 * expected);
    free_cloud(&c);
}

// Of any length, normals are turned along the same tree.
TEST(long_and_short_normals_turn_alike) {
    enum { POINTS = 4000 };
    made_cloud c;
    make_cloud(&c, sphere(POINTS, 3, 10), POINTS);
    const sap_normals_options o = {.k = 12, .orient = SAP_ORIENT_CONSISTENT};
    for (int power = -20; power <= 20; power += 10) {
        CHECK_STATUS(sap_cloud_normals(c.tree, &(sap_normals_options){.k = 12}, c.normals, NULL), SAP_OK);
        for (int i = 0; i < 3 * POINTS; i++) c.normals[i] = ldexpf(c.normals[i], power);
        CHECK_STATUS(sap_cloud_orient(c.tree, &o, c.normals), SAP_OK);
        for (int64_t i = 0; i < POINTS; i++) CHECK(outward(&c, i, 10) > 0.999 * ldexp(1, power));
    }
    // Long rows of the graph make the same tree as those that are compared.
    float* turned = malloc((size_t)POINTS * 3 * sizeof(float));
    memcpy(turned, c.normals, (size_t)POINTS * 3 * sizeof(float));
    const sap_normals_options wide = {.orient = SAP_ORIENT_CONSISTENT, .graph_k = 80};
    for (int i = 0; i < POINTS; i += 3)
        for (int a = 0; a < 3; a++) turned[3 * i + a] = -turned[3 * i + a];
    CHECK_STATUS(sap_cloud_orient(c.tree, &wide, turned), SAP_OK);
    CHECK(!memcmp(turned, c.normals, (size_t)POINTS * 3 * sizeof(float)));
    free(turned);
    free_cloud(&c);
}

TEST(normals_of_planes_are_exact) {
    enum { SIDE = 40 };
    for (int axis = 0; axis < 3; axis++) {
        float* coords = malloc(SIDE * SIDE * 3 * sizeof(float));
        for (int i = 0; i < SIDE * SIDE; i++) {
            coords[3 * i + axis] = 7;
            coords[3 * i + (axis + 1) % 3] = (float)(i % SIDE);
            coords[3 * i + (axis + 2) % 3] = (float)(i / SIDE);
        }
        made_cloud c;
        make_cloud(&c, coords, SIDE * SIDE);
        CHECK_STATUS(sap_cloud_normals(c.tree, NULL, c.normals, c.curvatures), SAP_OK);
        for (int64_t i = 0; i < c.count; i++) {
            for (int a = 0; a < 3; a++) CHECK(c.normals[3 * i + a] == (a == axis ? 1.0f : 0.0f));
            CHECK(c.curvatures[i] == 0);
        }
        free_cloud(&c);
    }
}

// What one coordinate is rounded to says nothing of the others.
TEST(planes_far_out_have_normals) {
    enum { POINTS = 10000 };
    uint64_t state = 3;
    float* coords = malloc(POINTS * 3 * sizeof(float));
    for (int i = 0; i < 3 * POINTS; i++) coords[i] = i % 3 ? (float)random_unit(&state) : 1e6f;
    made_cloud c;
    make_cloud(&c, coords, POINTS);
    CHECK_STATUS(sap_cloud_normals(c.tree, NULL, c.normals, c.curvatures), SAP_OK);
    for (int64_t i = 0; i < POINTS; i++)
        CHECK(c.normals[3 * i] == 1 && c.normals[3 * i + 1] == 0 && c.normals[3 * i + 2] == 0);
    free_cloud(&c);
}

TEST(points_on_a_line_have_no_normal) {
    uint64_t state = 5;
    for (int line = 0; line < 60; line++) {
        enum { POINTS = 400 };
        float* coords = malloc(POINTS * 3 * sizeof(float));
        double from[3], step[3];
        for (int a = 0; a < 3; a++) {
            from[a] = (random_unit(&state) - 0.5) * (line % 3 == 0 ? 1e4 : line % 3 == 1 ? 1 : 0);
            step[a] = line % 5 == 4 && a ? 0 : random_unit(&state) - 0.5;
        }
        for (int i = 0; i < POINTS; i++)
            for (int a = 0; a < 3; a++) coords[3 * i + a] = (float)(from[a] + step[a] * i);
        made_cloud c;
        uint8_t kinds[POINTS];
        float directions[3 * POINTS];
        make_cloud(&c, coords, POINTS);
        const sap_cloud_axes out = {.normals = c.normals, .kinds = kinds, .directions = directions};
        CHECK_STATUS(sap_cloud_shapes(c.tree, &(sap_normals_options){.k = 10}, &out), SAP_OK);
        const double length = sqrt(step[0] * step[0] + step[1] * step[1] + step[2] * step[2]);
        for (int i = 0; i < POINTS; i++) {
            NOTE("line %d point %d", line, i);
            CHECK_EQUAL(kinds[i], SAP_NEIGHBORHOOD_LINE);
            double along = 0;
            for (int a = 0; a < 3; a++) {
                CHECK(c.normals[3 * i + a] == 0);
                along += (double)directions[3 * i + a] * step[a] / length;
            }
            CHECK(fabs(along) > 0.99999);
        }
        free_cloud(&c);
    }
}

TEST(a_million_equal_points_are_quick) {
    const int64_t count = TEST_SANITIZED ? 20000 : 1000000;
    float* coords = malloc((size_t)count * 3 * sizeof(float));
    for (int64_t i = 0; i < 3 * count; i++) coords[i] = 2.5f;
    made_cloud c;
    make_cloud(&c, coords, count);
    uint8_t* kinds = malloc((size_t)count);
    const sap_cloud_axes out = {.normals = c.normals, .curvatures = c.curvatures, .kinds = kinds};
    CHECK_STATUS(sap_cloud_shapes(c.tree, NULL, &out), SAP_OK);
    for (int64_t i = 0; i < count; i++) CHECK(kinds[i] == SAP_NEIGHBORHOOD_POINT && c.curvatures[i] == 0);
    for (int64_t i = 0; i < 3 * count; i++) CHECK(c.normals[i] == 0);
    CHECK_STATUS(sap_cloud_orient(c.tree, &(sap_normals_options){.orient = SAP_ORIENT_CONSISTENT}, c.normals), SAP_OK);
    free(kinds);
    free_cloud(&c);
}

TEST(far_clouds_lose_nothing) {
    // The same sphere in units and place that floats of sums would not stand: a shift that is exact in floats.
    made_cloud near, far;
    make_cloud(&near, sphere(5000, 1, 0), 5000);
    for (int64_t i = 0; i < 3 * near.count; i++) near.coords[i] = roundf(near.coords[i] * 4096) / 4096;
    float* moved = malloc((size_t)near.count * 3 * sizeof(float));
    for (int64_t i = 0; i < 3 * near.count; i++) moved[i] = near.coords[i] + 1024;
    CHECK_STATUS(sap_tree_rebuild(near.tree, (sap_points){near.coords, near.count, 3, 0}), SAP_OK);
    make_cloud(&far, moved, near.count);
    CHECK_STATUS(sap_cloud_normals(near.tree, NULL, near.normals, near.curvatures), SAP_OK);
    CHECK_STATUS(sap_cloud_normals(far.tree, NULL, far.normals, far.curvatures), SAP_OK);
    for (int64_t i = 0; i < 3 * near.count; i++) CHECK(near.normals[i] == far.normals[i]);
    free_cloud(&near);
    free_cloud(&far);
}

// ---- Directions

TEST(covariances_beyond_floats_are_infinite) {
    const double lengths[2] = {1e25, 1e-25};
    for (int n = 0; n < 2; n++) {
        sap_device* device = NULL;
        double coords[3 * 9];
        static shapes s;
        sap_tree* tree = NULL;
        CHECK_STATUS(sap_device_open(NULL, &device), SAP_OK); // a GPU where there is one
        // A lattice in a plane, wider along (1, -1, 0) than along (1, 1, 0).
        for (int i = 0; i < 9; i++) {
            const double u = i % 3 - 1, v = 2 * (i / 3 - 1);
            coords[3 * i] = lengths[n] * (u + v);
            coords[3 * i + 1] = lengths[n] * (u - v);
            coords[3 * i + 2] = 0;
        }
        const sap_cloud_axes axes = axes_of(&s);
        CHECK_STATUS(sap_tree_build_f64(device, (sap_points_f64){coords, 9, 3, 0}, NULL, &tree), SAP_OK);
        CHECK_STATUS(sap_cloud_shapes(tree, &(sap_normals_options){.k = 9}, &axes), SAP_OK);
        const float far = n == 0 ? INFINITY : 0;
        for (int i = 0; i < 9; i++) {
            const float* c = s.covariances + 6 * i;
            CHECK(c[0] == far && c[1] == -far && c[3] == far && c[2] == 0 && c[4] == 0 && c[5] == 0);
            CHECK(s.eigenvalues[3 * i] == 0 && s.eigenvalues[3 * i + 1] == far && s.eigenvalues[3 * i + 2] == far);
            CHECK(s.normals[3 * i + 2] == 1 && s.kinds[i] == SAP_NEIGHBORHOOD_SURFACE && s.curvatures[i] == 0);
            CHECK(fabsf(s.planarities[i] - 0.25f) < 1e-6f && fabsf(s.linearities[i] - 0.75f) < 1e-6f);
            CHECK(fabsf(fabsf(s.directions[3 * i]) - 0.70710678f) < 1e-6f);
        }
        sap_tree_free(tree);
        sap_device_close(device);
    }
}

TEST(normals_turn_to_views) {
    made_cloud c;
    make_cloud(&c, sphere(2000, 1, 0), 2000);
    double* views = malloc(3 * 2000 * sizeof *views);
    double times[2000];
    for (int i = 0; i < 2000; i++) {
        for (int a = 0; a < 3; a++) views[3 * i + a] = (double)c.coords[3 * i + a] * (i % 2 ? 3 : 0.25);
        times[i] = i / 500.0 - 1;
    }
    sap_normals_options o = {.orient = SAP_ORIENT_VIEW};
    CHECK_STATUS(sap_cloud_normals(c.tree, &o, c.normals, NULL), SAP_OK);
    for (int64_t i = 0; i < c.count; i++) CHECK(outward(&c, i, 0) < -0.99); // inward, to the middle
    o = (sap_normals_options){.orient = SAP_ORIENT_VIEWS, .views = views};
    CHECK_STATUS(sap_cloud_orient(c.tree, &o, c.normals), SAP_OK);
    for (int64_t i = 0; i < c.count; i++) CHECK(i % 2 ? outward(&c, i, 0) > 0.99 : outward(&c, i, 0) < -0.99);
    // From far below to far above: times before and after stand still, two of one time are a jump.
    const double path[] = {0, 0, -100, 0, 0, -50, 0, 0, 50, 0, 0, 100}, path_times[] = {0, 1, 1, 2};
    o = (sap_normals_options){
        .orient = SAP_ORIENT_PATH, .views = path, .view_count = 4, .view_times = path_times, .point_times = times};
    CHECK_STATUS(sap_cloud_orient(c.tree, &o, c.normals), SAP_OK);
    for (int64_t i = 0; i < c.count; i++) {
        const double t = times[i];
        const double z = t <= 0 ? -100 : t < 1 ? -100 + 50 * t : t < 2 ? 50 + 50 * (t - 1) : 100;
        double along = 0;
        for (int a = 0; a < 3; a++)
            along += (double)c.normals[3 * i + a] * ((a == 2 ? z : 0) - (double)c.coords[3 * i + a]);
        CHECK(along >= 0);
    }
    free(views);
    free_cloud(&c);
}

// Prim's algorithm over the same graph, each part from its highest point: Kruskal's tree where no two edges weigh alike.
static void grow_tree(const made_cloud* c, const int32_t* near, int32_t k, float* normals) {
    const int64_t n = c->count;
    bool* done = calloc((size_t)n, 1);
    for (;;) {
        int64_t start = -1;
        for (int64_t i = 0; i < n; i++)
            if (!done[i] && (start < 0 || c->coords[3 * i + 2] > c->coords[3 * start + 2])) start = i;
        if (start < 0) break;
        done[start] = true;
        if (normals[3 * start + 2] < 0)
            for (int a = 0; a < 3; a++) normals[3 * start + a] = -normals[3 * start + a];
        for (;;) {
            float least = 2;
            int64_t from = -1, to = -1;
            for (int64_t e = 0; e < n * k; e++) {
                const int64_t a = e / k, b = near[e];
                if (b < 0 || done[a] == done[b]) continue;
                double dot = 0, own2 = 0, other2 = 0;
                for (int x = 0; x < 3; x++) {
                    const double own = (double)normals[3 * a + x], other = (double)normals[3 * b + x];
                    dot += own * other;
                    own2 += own * own;
                    other2 += other * other;
                }
                const double alike = fabs(dot) / sqrt(own2 * other2);
                const float weight = alike < 1 ? (float)(1 - alike) : 0;
                if (weight < least) least = weight, from = done[a] ? a : b, to = done[a] ? b : a;
            }
            if (to < 0) break;
            double dot = 0;
            for (int x = 0; x < 3; x++) dot += (double)normals[3 * from + x] * (double)normals[3 * to + x];
            if (dot < 0)
                for (int x = 0; x < 3; x++) normals[3 * to + x] = -normals[3 * to + x];
            done[to] = true;
        }
    }
    free(done);
}

TEST(consistent_normals_are_those_of_a_spanning_tree) {
    // A noisy, folded sheet in two parts.
    enum { POINTS = 600, K = 7 };
    devices all = devices_open(0);
    for (int seed = 0; seed < 3; seed++) {
        uint64_t state = (uint64_t)seed;
        float* coords = malloc(POINTS * 3 * sizeof(float));
        for (int i = 0; i < POINTS; i++) {
            const double x = random_unit(&state) * 6, y = random_unit(&state) * 2;
            coords[3 * i] = (float)(x + (i % 3 ? 0 : 100));
            coords[3 * i + 1] = (float)y;
            coords[3 * i + 2] = (float)(sin(2 * x) + 0.05 * random_unit(&state));
        }
        made_cloud c;
        make_cloud(&c, coords, POINTS);
        int32_t* near = malloc(POINTS * K * sizeof *near);
        float* got = malloc(POINTS * 3 * sizeof *got);
        CHECK_STATUS(sap_nearest_self(c.tree, &(sap_search){.k = K}, near, NULL), SAP_OK);
        CHECK_STATUS(sap_cloud_normals(c.tree, NULL, c.normals, NULL), SAP_OK);
        grow_tree(&c, near, K, c.normals);
        for (int d = 0; d < all.count; d++) {
            sap_tree* tree = NULL;
            CHECK_STATUS(sap_tree_copy(c.tree, all.open[d], &tree), SAP_OK);
            const sap_normals_options o = {.orient = SAP_ORIENT_CONSISTENT, .graph_k = K};
            CHECK_STATUS(sap_cloud_normals(tree, &o, got, NULL), SAP_OK);
            for (int i = 0; i < 3 * POINTS; i++) CHECK(got[i] == c.normals[i]);
            // Whatever directions they come in, they leave alike.
            for (int i = 0; i < POINTS; i++)
                for (int a = 0; a < 3; a++) got[3 * i + a] = i % 2 ? -got[3 * i + a] : got[3 * i + a];
            CHECK_STATUS(sap_cloud_orient(tree, &o, got), SAP_OK);
            for (int i = 0; i < 3 * POINTS; i++) CHECK(got[i] == c.normals[i]);
            sap_tree_free(tree);
        }
        free(near);
        free(got);
        free_cloud(&c);
    }
    devices_close(&all);
}

// The stand-in for a GPU goes over so many points in more parts than a call may hold blocks of memory, and over so many
// neighbours of a part in several goes.
TEST(consistent_normals_are_the_same_everywhere_in_double_precision) {
    enum { POINTS = 4000 };
    devices all = devices_open(0);
    const sap_normals_options o = {.k = 40, .orient = SAP_ORIENT_CONSISTENT, .graph_k = 6};
    float normals[2][3 * POINTS];
    double coords[3 * POINTS];
    uint64_t state = 5;
    for (int i = 0; i < 3 * POINTS; i++) coords[i] = random_unit(&state) * (i % 3 == 2 ? 0.1 : 3);
    for (int d = 0; d < all.count; d++) {
        sap_tree* tree = NULL;
        CHECK_STATUS(sap_tree_build_f64(all.open[d], (sap_points_f64){coords, POINTS, 3, 0}, NULL, &tree), SAP_OK);
        CHECK_STATUS(sap_cloud_normals(tree, &o, normals[d > 0], NULL), SAP_OK);
        for (int i = 0; d > 0 && i < 3 * POINTS; i++) CHECK(normals[1][i] == normals[0][i]);
        sap_tree_free(tree);
    }
    devices_close(&all);
}

// ---- Bad input

TEST(bad_arguments_are_refused) {
    stage s;
    open_stage(&s);
    float normals[30] = {0}, curvatures[10], weights[10] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    double views[30] = {0}, times[10] = {0};
    sap_normals_options o = {0};
    const sap_cloud_axes none = {0};
    CHECK_STATUS(sap_cloud_normals(NULL, NULL, normals, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cloud_covariances(NULL, NULL, normals, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cloud_shapes(NULL, NULL, &none), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cloud_orient(NULL, NULL, normals), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_cloud_shapes(s.tree, NULL, &none), SAP_OK);
    REFUSED(sap_cloud_normals(s.tree, NULL, NULL, curvatures), SAP_ERROR_ARGUMENT, "normals");
    REFUSED(sap_cloud_covariances(s.tree, NULL, NULL, normals), SAP_ERROR_ARGUMENT, "covariances");
    REFUSED(sap_cloud_shapes(s.tree, NULL, NULL), SAP_ERROR_ARGUMENT, "axes");
    REFUSED(sap_cloud_orient(s.tree, NULL, NULL), SAP_ERROR_ARGUMENT, "normals");
    REFUSED(sap_cloud_shapes(s.tree, NULL, &(sap_cloud_axes){.reserved = {0, 1}}), SAP_ERROR_ARGUMENT, "axes.reserved");
    o = (sap_normals_options){.reserved = {1}};
    REFUSED(sap_cloud_normals(s.tree, &o, normals, NULL), SAP_ERROR_ARGUMENT, "options.reserved");
    o = (sap_normals_options){.k = -1};
    REFUSED(sap_cloud_normals(s.tree, &o, normals, NULL), SAP_ERROR_ARGUMENT, "options.k");
    o = (sap_normals_options){.radius = -1};
    REFUSED(sap_cloud_normals(s.tree, &o, normals, NULL), SAP_ERROR_ARGUMENT, "options.radius");
    o = (sap_normals_options){.radius = (double)NAN};
    REFUSED(sap_cloud_normals(s.tree, &o, normals, NULL), SAP_ERROR_ARGUMENT, "options.radius");
    o = (sap_normals_options){.falloff = SAP_FALLOFF_BIWEIGHT};
    REFUSED(sap_cloud_normals(s.tree, &o, normals, NULL), SAP_ERROR_ARGUMENT, "options.falloff");
    o = (sap_normals_options){.falloff = (sap_falloff)2, .radius = 1};
    REFUSED(sap_cloud_normals(s.tree, &o, normals, NULL), SAP_ERROR_ARGUMENT, "options.falloff");
    o = (sap_normals_options){.orient = (sap_orient)5};
    REFUSED(sap_cloud_normals(s.tree, &o, normals, NULL), SAP_ERROR_ARGUMENT, "options.orient");
    o = (sap_normals_options){.orient = SAP_ORIENT_CONSISTENT, .graph_k = -1};
    REFUSED(sap_cloud_orient(s.tree, &o, normals), SAP_ERROR_ARGUMENT, "options.graph_k");
    o = (sap_normals_options){.weights = weights};
    weights[3] = -1;
    REFUSED(sap_cloud_normals(s.tree, &o, normals, NULL), SAP_ERROR_ARGUMENT, "options.weights[3]");
    weights[3] = NAN;
    REFUSED(sap_cloud_normals(s.tree, &o, normals, NULL), SAP_ERROR_NOT_FINITE, "options.weights[3]");
    o = (sap_normals_options){.orient = SAP_ORIENT_VIEW, .view = {0, (double)INFINITY, 0}};
    REFUSED(sap_cloud_normals(s.tree, &o, normals, NULL), SAP_ERROR_NOT_FINITE, "options.view[1]");
    o = (sap_normals_options){.orient = SAP_ORIENT_VIEWS};
    REFUSED(sap_cloud_normals(s.tree, &o, normals, NULL), SAP_ERROR_ARGUMENT, "options.views");
    o = (sap_normals_options){.orient = SAP_ORIENT_PATH, .views = views, .view_times = times, .point_times = times};
    REFUSED(sap_cloud_normals(s.tree, &o, normals, NULL), SAP_ERROR_ARGUMENT, "options.view_count");
    o.view_count = 3;
    times[2] = -1;
    REFUSED(sap_cloud_normals(s.tree, &o, normals, NULL), SAP_ERROR_ARGUMENT, "options.view_times[2]");
    times[2] = (double)NAN;
    REFUSED(sap_cloud_normals(s.tree, &o, normals, NULL), SAP_ERROR_NOT_FINITE, "options.view_times[2]");
    times[2] = 0;
    normals[7] = NAN;
    REFUSED(sap_cloud_orient(s.tree, &o, normals), SAP_ERROR_NOT_FINITE, "normals[7]");
    close_stage(&s);
}

TEST(other_trees_are_refused) {
    stage s;
    open_stage(&s);
    float normals[32];
    sap_tree *flat = NULL, *periodic = NULL;
    CHECK_STATUS(sap_tree_build(s.device, (sap_points){s.coords, 10, 2, 0}, NULL, &flat), SAP_OK);
    const sap_tree_options options = {.period = {20, 0, 0}};
    CHECK_STATUS(sap_tree_build(s.device, (sap_points){s.coords, 10, 3, 0}, &options, &periodic), SAP_OK);
    REFUSED(sap_cloud_normals(flat, NULL, normals, NULL), SAP_ERROR_ARGUMENT, "dimensions");
    REFUSED(sap_cloud_normals(periodic, NULL, normals, NULL), SAP_ERROR_UNSUPPORTED, "periods");
    sap_tree_free(flat);
    sap_tree_free(periodic);
    close_stage(&s);
}

TEST(progress_is_told_and_cancels) {
    enum { POINTS = 50000 };
    float* coords = malloc(POINTS * 3 * sizeof *coords);
    float* normals = malloc(POINTS * 3 * sizeof *normals);
    uint64_t state = 4;
    for (int i = 0; i < 3 * POINTS; i++) coords[i] = (float)random_unit(&state);
    for (int64_t stop_at = 0; stop_at < 4; stop_at++) {
        progress_host host = {0};
        sap_device* device = NULL;
        sap_tree* tree = NULL;
        const sap_device_options options = {
            .processor = SAP_CPU, .threads = 2, .progress = progress_host_report, .progress_user = &host};
        CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
        CHECK_STATUS(sap_tree_build(device, (sap_points){coords, POINTS, 3, 0}, NULL, &tree), SAP_OK);
        host = (progress_host){.stop_at = stop_at};
        CHECK_STATUS(sap_cloud_normals(tree, NULL, normals, NULL), stop_at ? SAP_ERROR_CANCELLED : SAP_OK);
        CHECK(stop_at ? host.reports == stop_at : host.reports > 3 && host.last == 1);
        // Points that ask twice are one call.
        host = (progress_host){.stop_at = stop_at};
        const sap_normals_options alike = {.orient = SAP_ORIENT_CONSISTENT};
        CHECK_STATUS(sap_cloud_normals(tree, &alike, normals, NULL), stop_at ? SAP_ERROR_CANCELLED : SAP_OK);
        CHECK(stop_at ? host.reports == stop_at : host.reports > 3 && host.last == 1);
        sap_tree_free(tree);
        sap_device_close(device);
    }
    free(coords);
    free(normals);
}

TEST_MAIN()
