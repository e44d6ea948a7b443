// Bad input to searches is a status and a sentence that names the argument; outputs stay as they were.
#include "stage.h"
#include <math.h>

TEST(nearest_refuses) {
    stage s;
    open_stage(&s);
    int32_t ids[60];
    float distance2[60];
    memset(ids, 0x11, sizeof ids);
    memset(distance2, 0x11, sizeof distance2);
    sap_points queries = {s.coords, 2, 3, 0}, bad = queries;
    sap_search search = {.k = 2}, wrong = search;
    CHECK_STATUS(sap_nearest(NULL, queries, &search, ids, distance2), SAP_ERROR_ARGUMENT);
    REFUSED(sap_nearest(s.tree, queries, NULL, ids, distance2), SAP_ERROR_ARGUMENT, "search");
    REFUSED(sap_nearest(s.tree, queries, &search, NULL, NULL), SAP_ERROR_ARGUMENT, "ids");
    REFUSED(sap_nearest(s.tree_f64, queries, &search, ids, distance2), SAP_ERROR_ARGUMENT, "");
    bad.coords = NULL;
    REFUSED(sap_nearest(s.tree, bad, &search, ids, distance2), SAP_ERROR_ARGUMENT, "coords");
    bad = queries;
    bad.dims = 2;
    REFUSED(sap_nearest(s.tree, bad, &search, ids, distance2), SAP_ERROR_ARGUMENT, "dims");
    bad = queries;
    bad.stride = 2;
    REFUSED(sap_nearest(s.tree, bad, &search, ids, distance2), SAP_ERROR_ARGUMENT, "stride");
    bad = queries;
    bad.count = -1;
    REFUSED(sap_nearest(s.tree, bad, &search, ids, distance2), SAP_ERROR_ARGUMENT, "count");
    bad.count = (int64_t)1 << 31;
    REFUSED(sap_nearest(s.tree, bad, &search, ids, distance2), SAP_ERROR_RANGE, "count");
    wrong.k = 0;
    REFUSED(sap_nearest(s.tree, queries, &wrong, ids, distance2), SAP_ERROR_ARGUMENT, "k");
    wrong.k = -5;
    REFUSED(sap_nearest(s.tree, queries, &wrong, ids, distance2), SAP_ERROR_ARGUMENT, "k");
    wrong = search;
    wrong.radius = -1;
    REFUSED(sap_nearest(s.tree, queries, &wrong, ids, distance2), SAP_ERROR_ARGUMENT, "radius");
    wrong.radius = NAN;
    REFUSED(sap_nearest(s.tree, queries, &wrong, ids, distance2), SAP_ERROR_ARGUMENT, "radius");
    wrong = search;
    wrong.walk = (sap_walk)12;
    REFUSED(sap_nearest(s.tree, queries, &wrong, ids, distance2), SAP_ERROR_ARGUMENT, "walk");
    wrong.walk = SAP_WALK_WARP;
    REFUSED(sap_nearest(s.tree, queries, &wrong, ids, distance2), SAP_ERROR_UNSUPPORTED, "walk");
    wrong.walk = SAP_WALK_PACKET;
    REFUSED(sap_nearest(s.tree, queries, &wrong, ids, distance2), SAP_ERROR_UNSUPPORTED, "walk");
    wrong.walk = SAP_WALK_STACKLESS;
    REFUSED(sap_nearest(s.sliding, queries, &wrong, ids, distance2), SAP_ERROR_UNSUPPORTED, "walk");
    for (int i = 0; i < 60; i++) CHECK_EQUAL(ids[i], 0x11111111);
    close_stage(&s);
}

TEST(nearest_f64_and_self_refuse) {
    stage s;
    open_stage(&s);
    int32_t ids[60];
    double distance2[60];
    float narrow[60];
    memset(ids, 0x11, sizeof ids);
    sap_points_f64 queries = {s.coords_f64, 2, 3, 0};
    sap_search search = {.k = 2}, wrong = {.k = 0};
    CHECK_STATUS(sap_nearest_f64(NULL, queries, &search, ids, distance2), SAP_ERROR_ARGUMENT);
    REFUSED(sap_nearest_f64(s.tree, queries, &search, ids, distance2), SAP_ERROR_ARGUMENT, "");
    REFUSED(sap_nearest_f64(s.tree_f64, queries, NULL, ids, distance2), SAP_ERROR_ARGUMENT, "search");
    REFUSED(sap_nearest_f64(s.tree_f64, queries, &search, NULL, NULL), SAP_ERROR_ARGUMENT, "ids");
    REFUSED(sap_nearest_f64(s.tree_f64, queries, &wrong, ids, distance2), SAP_ERROR_ARGUMENT, "k");
    CHECK_STATUS(sap_nearest_self(NULL, &search, ids, narrow), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_nearest_self_f64(NULL, &search, ids, distance2), SAP_ERROR_ARGUMENT);
    REFUSED(sap_nearest_self(s.tree, NULL, ids, narrow), SAP_ERROR_ARGUMENT, "search");
    REFUSED(sap_nearest_self(s.tree, &search, NULL, NULL), SAP_ERROR_ARGUMENT, "ids");
    REFUSED(sap_nearest_self(s.tree, &wrong, ids, narrow), SAP_ERROR_ARGUMENT, "k");
    REFUSED(sap_nearest_self(s.tree_f64, &search, ids, narrow), SAP_ERROR_ARGUMENT, "");
    REFUSED(sap_nearest_self_f64(s.tree, &search, ids, distance2), SAP_ERROR_ARGUMENT, "");
    REFUSED(sap_nearest_self_f64(s.tree_f64, &wrong, ids, distance2), SAP_ERROR_ARGUMENT, "k");
    for (int i = 0; i < 60; i++) CHECK_EQUAL(ids[i], 0x11111111);
    close_stage(&s);
}

TEST(too_many_answers) {
    stage s;
    open_stage(&s);
    sap_search search = {.k = INT32_MAX};
    int32_t id = 5;
    sap_points many = {s.coords, INT32_MAX, 3, 0};
    // 2^62 answers: more bytes than there are addresses.
    REFUSED(sap_nearest(s.tree, many, &search, &id, NULL), SAP_ERROR_RANGE, "");
    CHECK_EQUAL(id, 5);
    close_stage(&s);
}

TEST(radius_refuses) {
    stage s;
    open_stage(&s);
    int64_t counts[2] = {-9, -9};
    sap_neighbors* found = NULL;
    sap_points queries = {s.coords, 2, 3, 0}, flat = {s.coords, 2, 2, 0}, none = {NULL, 2, 3, 0};
    sap_points_f64 doubles = {s.coords_f64, 2, 3, 0};
    static const double bad[] = {-1, NAN, -INFINITY};
    CHECK_STATUS(sap_radius_count(NULL, queries, 1, counts), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_radius_count_f64(NULL, doubles, 1, counts), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_radius(NULL, queries, 1, &found), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_radius_f64(NULL, doubles, 1, &found), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_pairs(NULL, 1, &found), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_neighbors_sort(NULL), SAP_ERROR_ARGUMENT);
    for (int i = 0; i < 3; i++) {
        REFUSED(sap_radius_count(s.tree, queries, bad[i], counts), SAP_ERROR_ARGUMENT, "radius");
        REFUSED(sap_radius_count_f64(s.tree_f64, doubles, bad[i], counts), SAP_ERROR_ARGUMENT, "radius");
        REFUSED(sap_radius(s.tree, queries, bad[i], &found), SAP_ERROR_ARGUMENT, "radius");
        REFUSED(sap_radius_f64(s.tree_f64, doubles, bad[i], &found), SAP_ERROR_ARGUMENT, "radius");
        REFUSED(sap_pairs(s.tree, bad[i], &found), SAP_ERROR_ARGUMENT, "radius");
    }
    REFUSED(sap_radius_count(s.tree, queries, 1, NULL), SAP_ERROR_ARGUMENT, "counts");
    REFUSED(sap_radius_count_f64(s.tree_f64, doubles, 1, NULL), SAP_ERROR_ARGUMENT, "counts");
    REFUSED(sap_radius(s.tree, queries, 1, NULL), SAP_ERROR_ARGUMENT, "found");
    REFUSED(sap_radius_f64(s.tree_f64, doubles, 1, NULL), SAP_ERROR_ARGUMENT, "found");
    REFUSED(sap_pairs(s.tree, 1, NULL), SAP_ERROR_ARGUMENT, "found");
    REFUSED(sap_radius_count(s.tree, flat, 1, counts), SAP_ERROR_ARGUMENT, "dims");
    REFUSED(sap_radius(s.tree, none, 1, &found), SAP_ERROR_ARGUMENT, "coords");
    REFUSED(sap_radius(s.tree_f64, queries, 1, &found), SAP_ERROR_ARGUMENT, "");
    REFUSED(sap_radius_count_f64(s.tree, doubles, 1, counts), SAP_ERROR_ARGUMENT, "");
    CHECK(counts[0] == -9 && counts[1] == -9 && found == NULL);
    close_stage(&s);
}

TEST(radius_into_refuses) {
    stage s;
    open_stage(&s);
    int64_t offsets[3] = {-9, -9, -9};
    int32_t ids[4] = {-9, -9, -9, -9};
    float distance2[4] = {-9, -9, -9, -9};
    double wide[4] = {-9, -9, -9, -9};
    sap_points queries = {s.coords, 2, 3, 0}, flat = {s.coords, 2, 2, 0};
    sap_points_f64 doubles = {s.coords_f64, 2, 3, 0};
    CHECK_STATUS(sap_radius_into(NULL, queries, 1, 4, offsets, ids, distance2), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_radius_into_f64(NULL, doubles, 1, 4, offsets, ids, wide), SAP_ERROR_ARGUMENT);
    REFUSED(sap_radius_into(s.tree, queries, -1, 4, offsets, ids, distance2), SAP_ERROR_ARGUMENT, "radius");
    REFUSED(sap_radius_into_f64(s.tree_f64, doubles, NAN, 4, offsets, ids, wide), SAP_ERROR_ARGUMENT, "radius");
    REFUSED(sap_radius_into(s.tree, queries, 1, -1, offsets, ids, distance2), SAP_ERROR_ARGUMENT, "capacity");
    REFUSED(sap_radius_into_f64(s.tree_f64, doubles, 1, -1, offsets, ids, wide), SAP_ERROR_ARGUMENT, "capacity");
    REFUSED(sap_radius_into(s.tree, queries, 1, 4, NULL, ids, distance2), SAP_ERROR_ARGUMENT, "offsets");
    REFUSED(sap_radius_into_f64(s.tree_f64, doubles, 1, 4, NULL, ids, wide), SAP_ERROR_ARGUMENT, "offsets");
    REFUSED(sap_radius_into(s.tree, queries, 1, 4, offsets, NULL, distance2), SAP_ERROR_ARGUMENT, "ids");
    REFUSED(sap_radius_into_f64(s.tree_f64, doubles, 1, 4, offsets, NULL, wide), SAP_ERROR_ARGUMENT, "ids");
    REFUSED(sap_radius_into(s.tree, flat, 1, 4, offsets, ids, distance2), SAP_ERROR_ARGUMENT, "dims");
    REFUSED(sap_radius_into(s.tree_f64, queries, 1, 4, offsets, ids, distance2), SAP_ERROR_ARGUMENT, "");
    for (int i = 0; i < 4; i++) CHECK(ids[i] == -9 && distance2[i] == -9 && wide[i] == -9);
    for (int i = 0; i < 3; i++) CHECK_EQUAL(offsets[i], -9);
    close_stage(&s);
}

// An empty tree is a tree like any other.
TEST(empty_trees) {
    stage s;
    open_stage(&s);
    for (int split = 0; split < 2; split++) {
        sap_tree_options options = {.split = (sap_split)split};
        sap_tree* tree = NULL;
        sap_tree_info info;
        int32_t ids[6];
        float distance2[6];
        int64_t counts[2] = {9, 9}, offsets[3] = {9, 9, 9};
        sap_search search = {.k = 3};
        sap_neighbors *found = NULL, *pairs = NULL;
        sap_points queries = {s.coords, 2, 3, 0};
        CHECK_STATUS(sap_tree_build(s.device, (sap_points){NULL, 0, 3, 0}, &options, &tree), SAP_OK);
        CHECK_STATUS(sap_tree_verify(tree), SAP_OK);
        CHECK_STATUS(sap_tree_describe(tree, &info), SAP_OK);
        CHECK(info.count == 0 && info.source_count == 0 && info.lower[2] == INFINITY && info.upper[2] == -INFINITY);
        CHECK_STATUS(sap_nearest(tree, queries, &search, ids, distance2), SAP_OK);
        for (int i = 0; i < 6; i++) CHECK(ids[i] == -1 && distance2[i] == INFINITY);
        CHECK_STATUS(sap_nearest_self(tree, &search, ids, distance2), SAP_OK);
        CHECK_STATUS(sap_radius_count(tree, queries, INFINITY, counts), SAP_OK);
        CHECK(counts[0] == 0 && counts[1] == 0);
        CHECK_STATUS(sap_radius_into(tree, queries, INFINITY, 3, offsets, ids, distance2), SAP_OK);
        CHECK(offsets[0] == 0 && offsets[1] == 0 && offsets[2] == 0);
        CHECK_STATUS(sap_radius(tree, queries, 1, &found), SAP_OK);
        CHECK(found && found->count == 2 && found->offsets[2] == 0);
        CHECK_STATUS(sap_neighbors_sort(found), SAP_OK);
        CHECK_STATUS(sap_pairs(tree, 1, &pairs), SAP_OK);
        CHECK(pairs && pairs->count == 0 && pairs->offsets[0] == 0);
        CHECK_STATUS(sap_tree_nodes(tree, (sap_tree_node[1]){{0, 0, 0, 0}}), SAP_OK);
        CHECK_STATUS(sap_tree_rebuild(tree, queries), SAP_OK);
        CHECK_STATUS(sap_tree_verify(tree), SAP_OK);
        CHECK_STATUS(sap_tree_rebuild(tree, (sap_points){NULL, 0, 3, 0}), SAP_OK);
        CHECK_STATUS(sap_tree_verify(tree), SAP_OK);
        sap_neighbors_free(found);
        sap_neighbors_free(pairs);
        sap_tree_free(tree);
    }
    close_stage(&s);
}

TEST_MAIN()
