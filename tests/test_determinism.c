// One answer, bit for bit: the bytes of trees and of answers, as numbers that every compiler, optimisation level,
// instruction set and machine must arrive at. tests/determinism.sh runs this program as several compilers make it.
#include "calls.h"
#include "sapwood/surface.h"
#include "test.h"
#include "tree/host_view.h"

enum { POINTS = 3000, QUERIES = 500, K = 9 };

// A GPU that the CPU plays under sanitizers takes a second a row.
#if TEST_SLOW
enum { ROW_STEP = 4 };
#else
enum { ROW_STEP = 1 };
#endif

// FNV-1a, 64 bits, of values as their bytes stand on a little-endian machine.
static void add_bytes(uint64_t* hash, const void* bytes, size_t count) {
    for (size_t i = 0; i < count; i++) *hash = (*hash ^ ((const unsigned char*)bytes)[i]) * UINT64_C(0x100000001B3);
}

static void add_answers(uint64_t* hash, const sap_tree* tree, const cloud* queries, int32_t k, double radius) {
    size_t real_bytes = (size_t)queries->real_bits / 8, places = QUERIES * (size_t)k;
    int32_t* ids = malloc(places * sizeof *ids);
    void* distance2 = malloc(places * real_bytes);
    int64_t counts[QUERIES];
    sap_neighbors* found = NULL;
    CHECK_STATUS(nearest(tree, queries, &(sap_search){.k = k}, ids, distance2), SAP_OK);
    add_bytes(hash, ids, places * sizeof *ids);
    add_bytes(hash, distance2, places * real_bytes);
    CHECK_STATUS(radius_count(tree, queries, radius, counts), SAP_OK);
    add_bytes(hash, counts, sizeof counts);
    CHECK_STATUS(radius_collect(tree, queries, radius, &found), SAP_OK);
    CHECK_STATUS(sap_neighbors_sort(found), SAP_OK);
    if (found) add_bytes(hash, found->ids, (size_t)found->offsets[QUERIES] * sizeof *found->ids);
    sap_neighbors_free(found);
    free(ids);
    free(distance2);
}

// The hash of a tree and of its answers to queries among its points.
static uint64_t hash_of(sap_device* device, family kind, int32_t dims, int32_t real_bits, sap_split split) {
    uint64_t hash = UINT64_C(0xCBF29CE484222325), state = 5;
    sap_tree_options options = {.split = split, .query_radius = split == SAP_SPLIT_VVH ? 0.01 : 0};
    cloud points = cloud_of_family(kind, POINTS, dims, real_bits, 0, 21);
    cloud queries = cloud_make(QUERIES, dims, real_bits, 0);
    for (int64_t q = 0; q < QUERIES; q++)
        for (int32_t a = 0; a < dims; a++)
            cloud_set(&queries, q, a, cloud_get(&points, random_below(&state, POINTS), a) * (1 + 0x1p-12));
    sap_tree* tree = NULL;
    CHECK_STATUS(build(device, &points, &options, &tree), SAP_OK);
    sap_host_view view;
    if (tree && CHECK_STATUS(sap_host_view_open(tree, &view), SAP_OK)) {
        add_bytes(&hash, view.tree.arrays, tree->shape.bytes);
        sap_host_view_close(&view);
        add_answers(&hash, tree, &queries, 1, 0.01);
        add_answers(&hash, tree, &queries, K, 0.1);
    }
    sap_tree_free(tree);
    cloud_free(&points);
    cloud_free(&queries);
    return hash;
}

TEST(the_same_bits_everywhere) {
    static const struct {
        family kind;
        int32_t dims, real_bits;
        sap_split split;
        uint64_t expected;
    } golden[] = {
        {FAMILY_UNIFORM, 3, 32, SAP_SPLIT_MEDIAN, 0x9DE90BDE322783AE},
        {FAMILY_UNIFORM, 3, 64, SAP_SPLIT_MEDIAN, 0x20F587CBC1BFA473},
        {FAMILY_UNIFORM, 3, 32, SAP_SPLIT_SLIDING_MIDPOINT, 0xDDC860CCDA53FCB8},
        {FAMILY_CLUSTERED, 2, 32, SAP_SPLIT_MEDIAN, 0x16B2C891E4DA328E},
        {FAMILY_CLUSTERED, 2, 64, SAP_SPLIT_SLIDING_MIDPOINT, 0x18C122E95E0A47FC},
        {FAMILY_SHELL, 4, 32, SAP_SPLIT_MEDIAN, 0xED885FF4464404FE},
        {FAMILY_SHELL, 4, 64, SAP_SPLIT_SLIDING_MIDPOINT, 0xAD82CF11FF102FAE},
        {FAMILY_LATTICE, 3, 32, SAP_SPLIT_MEDIAN, 0x2C68A14842570987},
        {FAMILY_LATTICE, 3, 32, SAP_SPLIT_SLIDING_MIDPOINT, 0xB1D01910C92E34E9},
        {FAMILY_CLUSTERED, 3, 32, SAP_SPLIT_VVH, 0xE1C9D8020D9260FF},
        {FAMILY_SHELL, 3, 64, SAP_SPLIT_VVH, 0x2DF05E2E1BA5B595},
        {FAMILY_HALF_DUPLICATES, 1, 64, SAP_SPLIT_MEDIAN, 0x9A5AA24BF9D77628},
        {FAMILY_FAR, 3, 32, SAP_SPLIT_MEDIAN, 0x300CB3365F64ED2E},
        {FAMILY_DENORMAL, 3, 32, SAP_SPLIT_MEDIAN, 0x1EC1385696DED42E},
        {FAMILY_MIXED, 3, 32, SAP_SPLIT_MEDIAN, 0x892C47CF7EB280CC},
        {FAMILY_MIXED, 16, 64, SAP_SPLIT_MEDIAN, 0xBFFC96F314097F1C},
        {FAMILY_MINUS_ZERO, 5, 32, SAP_SPLIT_MEDIAN, 0x3167016C78066C48},
    };
    if (*(const unsigned char*)&(uint16_t){1} != 1) SKIP("the numbers are those of little-endian machines");
    devices all = devices_open(0);
    for (int i = 0; i < (int)(sizeof golden / sizeof *golden); i += ROW_STEP)
        for (int d = 0; d < all.count; d++) {
            uint64_t hash = hash_of(all.open[d], golden[i].kind, golden[i].dims, golden[i].real_bits, golden[i].split);
            NOTE("row %d device %d: now 0x%016llX", i, d, (unsigned long long)hash);
            CHECK(hash == golden[i].expected);
        }
    devices_close(&all);
}

// A surface's vertices, normals and triangles: noise, smooth or not at all.
static uint64_t hash_of_surface(sap_device* device, bool smooth) {
    enum { SIDE = 40 };
    static float values[SIDE * SIDE * SIDE];
    uint64_t hash = UINT64_C(0xCBF29CE484222325), state = 9;
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
        float noise = (float)(random_next(&state) >> 40);
        values[i] = smooth && i > SIDE ? 0.5f * values[i - 1] + 0.45f * values[i - SIDE] + 0.05f * noise : noise;
    }
    const sap_volume volume = {
        .values = values, .size = {SIDE, SIDE, SIDE}, .spacing = {1, 0.3f, 0.7f}, .origin = {0.1f, -5, 1e3f}};
    sap_isosurface* surface = NULL;
    CHECK_STATUS(sap_isosurface_extract(device, volume, &(sap_isosurface_options){.level = 8e6f}, &surface), SAP_OK);
    if (!surface) return 0;
    CHECK(surface->mesh.triangle_count > 1000);
    add_bytes(&hash, surface->mesh.vertices, (size_t)surface->mesh.vertex_count * 12);
    add_bytes(&hash, surface->normals, (size_t)surface->mesh.vertex_count * 12);
    add_bytes(&hash, surface->mesh.triangles, (size_t)surface->mesh.triangle_count * 12);
    sap_isosurface_free(surface);
    return hash;
}

TEST(the_same_surfaces_everywhere) {
    static const uint64_t expected[2] = {0x94BB66DEF79B96E7, 0x3A57F6E9E14EF747};
    if (*(const unsigned char*)&(uint16_t){1} != 1) SKIP("the numbers are those of little-endian machines");
    devices all = devices_open(0);
    for (int smooth = 0; smooth < 2; smooth++) {
        for (int d = 0; d < all.count; d++) {
            uint64_t hash = hash_of_surface(all.open[d], smooth);
            NOTE("smooth %d device %d: now 0x%016llX", smooth, d, (unsigned long long)hash);
            CHECK(hash == expected[smooth]);
        }
    }
    devices_close(&all);
}

TEST_MAIN()
