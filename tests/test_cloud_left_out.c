// What is said of points that a tree has left out may be anything; what is said of the others is checked.
#include "sapwood/align.h"
#include "sapwood/cloud.h"
#include "stage.h"
#include <math.h>

enum { GIVEN = 40, KEPT = GIVEN - 10 };

typedef struct given {
    float coords[3 * GIVEN], weights[GIVEN], attributes[2 * GIVEN], normals[3 * GIVEN];
    double views[3 * GIVEN], times[GIVEN];
} given;

static bool is_left_out(int i) { return i >= KEPT; }

// Points of a bent sheet; five are repeated and five are not finite. What these have beside their coordinates is `odd`.
static void fill(given* g, double odd) {
    for (int i = 0; i < GIVEN; i++) {
        const int from = i < KEPT + 5 ? i % KEPT : i;
        const float x = (float)(from % 6), y = (float)(from / 6);
        g->coords[3 * i] = from == i && is_left_out(i) ? NAN : x;
        g->coords[3 * i + 1] = y;
        g->coords[3 * i + 2] = (x * x - y) / 8;
        g->weights[i] = is_left_out(i) ? (float)odd : 1 + 0.25f * (float)(i % 3);
        g->times[i] = is_left_out(i) ? odd : 0.1 * i;
        for (int a = 0; a < 3; a++) {
            g->views[3 * i + a] = is_left_out(i) ? odd : i % 2 ? 9 : -9;
            g->normals[3 * i + a] = is_left_out(i) ? (float)odd : (float)(a + 1);
        }
        for (int a = 0; a < 2; a++) g->attributes[2 * i + a] = is_left_out(i) ? (float)odd : (float)(i + a);
    }
}

typedef struct results {
    float normals[4][3 * GIVEN], features[SAP_FEATURE_NUMBERS * GIVEN];
    double sums[2 * GIVEN];
    sap_alignment alignment;
} results;

static void ask(const sap_tree* tree, const given* g, results* r) {
    const double path[6] = {0, 0, 9, 9, 9, -9}, times[2] = {0, 2};
    memset(r, 0, sizeof *r);
    sap_normals_options o = {.k = 5, .weights = g->weights};
    CHECK_STATUS(sap_cloud_normals(tree, &o, r->normals[0], NULL), SAP_OK);
    o = (sap_normals_options){.orient = SAP_ORIENT_VIEWS, .views = g->views};
    CHECK_STATUS(sap_cloud_normals(tree, &o, r->normals[1], NULL), SAP_OK);
    o = (sap_normals_options){
        .orient = SAP_ORIENT_PATH, .views = path, .view_count = 2, .view_times = times, .point_times = g->times};
    CHECK_STATUS(sap_cloud_normals(tree, &o, r->normals[2], NULL), SAP_OK);
    memcpy(r->normals[3], g->normals, sizeof g->normals);
    for (int i = 0; i < 2; i++) {
        o = (sap_normals_options){.orient = i ? SAP_ORIENT_CONSISTENT : SAP_ORIENT_VIEW, .view = {0, 0, -9}};
        CHECK_STATUS(sap_cloud_orient(tree, &o, r->normals[3]), SAP_OK);
    }
    const sap_gather_options gather = {
        .k = 4, .weights = g->weights, .attributes = g->attributes, .attribute_count = 2};
    CHECK_STATUS(sap_gather_self(tree, &gather, &(sap_gathered){.attributes = r->sums}), SAP_OK);
    CHECK_STATUS(sap_cloud_features(tree, &(sap_features_options){.k = 6, .normals = g->normals}, r->features), SAP_OK);
    const sap_align_options align = {.method = SAP_ALIGN_GENERALISED,
                                     .iterations = 3,
                                     .source_normals = g->normals,
                                     .target_normals = g->normals,
                                     .drop_nonfinite = true};
    float source[3 * GIVEN]; // of which none is a duplicate
    memcpy(source, g->coords, sizeof source);
    for (int i = KEPT; i < KEPT + 5; i++) source[3 * i] = INFINITY;
    CHECK_STATUS(sap_cloud_align(tree, (sap_points){source, GIVEN, 3, 0}, &align, &r->alignment), SAP_OK);
}

static void check_alike(const sap_tree* tree) {
    static given g;
    static results usual, odd;
    const double values[3] = {(double)NAN, -(double)INFINITY, -1};
    fill(&g, 0);
    ask(tree, &g, &usual);
    for (int i = 0; i < 3; i++) {
        NOTE("%g", values[i]);
        fill(&g, values[i]);
        ask(tree, &g, &odd);
        for (int n = KEPT; n < GIVEN; n++)
            for (int a = 0; a < 3; a++) {
                CHECK(!memcmp(&odd.normals[3][3 * n + a], &g.normals[3 * n + a], sizeof(float)));
                odd.normals[3][3 * n + a] = usual.normals[3][3 * n + a];
            }
        CHECK(!memcmp(&usual, &odd, sizeof odd));
    }
}

TEST(what_is_said_of_points_left_out_is_not_looked_at) {
    stage s;
    static given g;
    open_stage(&s);
    fill(&g, 0);
    for (int i = 0; i < 2; i++) {
        const sap_tree_options o = {.split = i ? SAP_SPLIT_SLIDING_MIDPOINT : SAP_SPLIT_MEDIAN,
                                    .leaf_size = 4,
                                    .drop_duplicates = true,
                                    .drop_nonfinite = true};
        sap_tree* tree = NULL;
        CHECK_STATUS(sap_tree_build(s.device, (sap_points){g.coords, GIVEN, 3, 0}, &o, &tree), SAP_OK);
        check_alike(tree);
        sap_tree_free(tree);
    }
    close_stage(&s);
}

TEST(what_is_said_of_points_of_the_tree_is_checked) {
    stage s;
    static given g;
    float normals[3 * GIVEN];
    open_stage(&s);
    fill(&g, (double)NAN);
    const sap_tree_options build = {.drop_duplicates = true, .drop_nonfinite = true};
    sap_tree* tree = NULL;
    CHECK_STATUS(sap_tree_build(s.device, (sap_points){g.coords, GIVEN, 3, 0}, &build, &tree), SAP_OK);
    g.weights[KEPT - 1] = INFINITY;
    g.attributes[2 * KEPT - 1] = g.normals[3 * KEPT - 1] = NAN;
    g.views[3 * KEPT - 1] = g.times[KEPT - 1] = (double)NAN;
    sap_normals_options o = {.weights = g.weights};
    REFUSED(sap_cloud_normals(tree, &o, normals, NULL), SAP_ERROR_NOT_FINITE, "options.weights[29]");
    o = (sap_normals_options){.orient = SAP_ORIENT_VIEWS, .views = g.views};
    REFUSED(sap_cloud_normals(tree, &o, normals, NULL), SAP_ERROR_NOT_FINITE, "options.views[89]");
    const double view[3] = {0, 0, 9}, time = 0;
    o = (sap_normals_options){
        .orient = SAP_ORIENT_PATH, .views = view, .view_count = 1, .view_times = &time, .point_times = g.times};
    REFUSED(sap_cloud_normals(tree, &o, normals, NULL), SAP_ERROR_NOT_FINITE, "options.point_times[29]");
    REFUSED(sap_cloud_orient(tree, NULL, g.normals), SAP_ERROR_NOT_FINITE, "normals[89]");
    const sap_gather_options gather = {.attributes = g.attributes, .attribute_count = 2};
    double sums[2 * GIVEN];
    REFUSED(sap_gather_self(tree, &gather, &(sap_gathered){.attributes = sums}), SAP_ERROR_NOT_FINITE,
            "options.attributes[59]");
    // Where memory to tell which points count is missing.
    sap_device_trim(s.device);
    s.w.fail_from = s.w.requests + 1;
    REFUSED(sap_cloud_orient(tree, NULL, g.normals), SAP_ERROR_MEMORY, "no memory");
    sap_tree_free(tree);
    close_stage(&s);
}

TEST_MAIN()
