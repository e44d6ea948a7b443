// Trees over ranks that are threads: the cut is that of one tree, and so are the answers, bit for bit.
#include "allocator.h"
#include "cluster/cluster.h"
#include "families.h"
#include "oracle.h"
#include "ranks.h"
#include <math.h>

// ---- One tree, and the same over ranks

// Who gives which points at first.
typedef enum owners { OWNERS_BLOCKS, OWNERS_RANDOM, OWNERS_FIRST, OWNERS_SOME, OWNERS_COUNT } owners;

typedef struct scene {
    family kind;
    int64_t size;
    int32_t dims, real_bits, ranks;
    owners give;
    bool with_ids, ascends; // the latter: the first coordinates
    sap_tree_options options;
    uint64_t chance;
    int64_t last_id; // 0: by chance
    cloud points;    // all, in the order of ids
    cloud queries;
    int32_t* owner;  // [size]
    int64_t* global; // [size] ids
    sap_device* device;
    sap_tree* one;
} scene;

static sap_status build_one(sap_device* device, const cloud* c, const sap_tree_options* options, sap_tree** tree) {
    if (c->real_bits == 64)
        return sap_tree_build_f64(device, (sap_points_f64){c->coords, c->count, c->dims, c->stride}, options, tree);
    return sap_tree_build(device, (sap_points){c->coords, c->count, c->dims, c->stride}, options, tree);
}

static void choose_owners(scene* s) {
    uint64_t state = s->chance ^ 5;
    int64_t id = (int64_t)(s->chance % 3);
    for (int64_t i = 0; i < s->size; i++) {
        int64_t owner = i * s->ranks / s->size;
        if (s->give == OWNERS_RANDOM) owner = random_below(&state, s->ranks);
        if (s->give == OWNERS_FIRST) owner = 0;
        if (s->give == OWNERS_SOME) owner = owner / 2 * 2; // every second rank gives none
        s->owner[i] = (int32_t)owner;
        s->global[i] = s->with_ids ? id : i;
        id += 1 + random_below(&state, s->chance % 4 == 3 ? 9000 : s->chance % 2 ? 3 : INT64_C(1) << 33);
    }
    if (s->last_id) s->global[s->size - 1] = s->last_id;
}

static void open_scene(scene* s) {
    sap_device_options options = {.processor = SAP_CPU, .threads = 1};
    s->points = cloud_of_family(s->kind, s->size, s->dims, s->real_bits, 0, s->chance);
    for (int64_t i = 0; i < s->size && s->ascends; i++) cloud_set(&s->points, i, 0, (double)i);
    s->owner = malloc(((size_t)s->size + 1) * sizeof *s->owner);
    s->global = malloc(((size_t)s->size + 1) * sizeof *s->global);
    choose_owners(s);
    CHECK_STATUS(sap_device_open(&options, &s->device), SAP_OK);
    CHECK_STATUS(build_one(s->device, &s->points, &s->options, &s->one), SAP_OK);
    NOTE("%s n %d dims %d f%d ranks %d owners %d ids %d leaf %d axis %d", family_name(s->kind), (int)s->size, s->dims,
         s->real_bits, s->ranks, (int)s->give, s->with_ids, s->options.leaf_size, (int)s->options.axis);
}

static void close_scene(scene* s) {
    sap_tree_free(s->one);
    sap_device_close(s->device);
    cloud_free(&s->points);
    free(s->owner);
    free(s->global);
    NOTE("%s", "");
}

// The points that a rank gives, with their ids. Without ids, only owners in blocks keep the order.
static cloud share_of(const scene* s, int32_t rank, int64_t** ids) {
    int64_t count = 0, at = 0;
    for (int64_t i = 0; i < s->size; i++) count += s->owner[i] == rank;
    cloud share = cloud_make(count, s->dims, s->real_bits, s->chance % 2 ? 0 : s->dims + 1);
    *ids = malloc(((size_t)count + 1) * sizeof **ids);
    // Backwards, so that ids do not ascend with rows, if there are any.
    for (int64_t n = 0; n < s->size; n++) {
        const int64_t i = s->with_ids ? s->size - 1 - n : n;
        if (s->owner[i] != rank) continue;
        for (int32_t a = 0; a < s->dims; a++) cloud_set(&share, at, a, cloud_get(&s->points, i, a));
        (*ids)[at++] = s->global[i];
    }
    return share;
}

static sap_status build_over(rank_thread* r, const cloud* c, const int64_t* ids, const sap_tree_options* options,
                             sap_cluster_tree** tree) {
    void* coords = c->count ? c->coords : NULL;
    if (c->real_bits == 64)
        return sap_cluster_build_f64(r->comm, r->device, (sap_points_f64){coords, c->count, c->dims, c->stride}, ids,
                                     options, tree);
    return sap_cluster_build(r->comm, r->device, (sap_points){coords, c->count, c->dims, c->stride}, ids, options,
                             tree);
}

// Whether node `node` of the slice is node `other` of the one tree.
static bool same_node(const sap_tree* a, int64_t node, const sap_tree* b, int64_t other) {
    const size_t real = (size_t)a->shape.real_bits / 8;
    return a->arrays[a->shape.axis_at + (size_t)node] == b->arrays[b->shape.axis_at + (size_t)other] &&
           !memcmp(a->arrays + a->shape.split_at + (size_t)node * real,
                   b->arrays + b->shape.split_at + (size_t)other * real, real);
}

static bool same_leaf(const scene* s, const sap_cluster_piece* piece, int64_t leaf, int64_t other) {
    const sap_tree *a = piece->tree, *b = s->one;
    const int32_t stride = a->shape.stride;
    const size_t coords = (size_t)stride * (size_t)s->dims * (size_t)s->real_bits / 8;
    const unsigned char *x = sap_block(a, leaf * stride), *y = sap_block(b, other * stride);
    bool same = stride == b->shape.stride && !memcmp(x, y, coords);
    for (int32_t i = 0; i < stride && same; i++) {
        int32_t local, global;
        memcpy(&local, x + coords + (size_t)i * 4, 4);
        memcpy(&global, y + coords + (size_t)i * 4, 4);
        same = (local < 0) == (global < 0) && (local < 0 || sap_cluster_name(piece, local) == s->global[global]);
    }
    return same;
}

// Boxes of a level, of all nodes that have some.
static bool same_boxes(const sap_tree* a, const sap_tree* b, int32_t depth, int64_t index) {
    const size_t real = (size_t)a->shape.real_bits / 8;
    for (int32_t j = 0; j < a->shape.levels; j++) {
        const int32_t below = a->shape.level_depth[j], other = b->shape.levels - a->shape.levels + j;
        if (depth + below == 0 && b->shape.depth > 0) continue;
        if (a->shape.depth == 0 && b->shape.depth > 0 && b->shape.level_depth[other] != depth) return false;
        for (int64_t i = 0; i < (int64_t)1 << below; i++) {
            const int64_t k = (index << below) + i;
            for (int32_t x = 0; x < 2 * a->shape.dims; x++) {
                const size_t p = (size_t)(((i >> 4) * 2 * a->shape.dims + x) * 16 + (i & 15)) * real;
                const size_t q = (size_t)(((k >> 4) * 2 * a->shape.dims + x) * 16 + (k & 15)) * real;
                if (memcmp(a->arrays + a->shape.box_at[j] + p, b->arrays + b->shape.box_at[other] + q, real))
                    return false;
            }
        }
    }
    return true;
}

// Whether a subtree's ids need not be looked up, where they fit into leaves.
static void check_names(const scene* s, const sap_cluster_piece* piece) {
    const bool narrow = !s->size || s->global[s->size - 1] < INT32_MAX;
    if (piece->by_id) CHECK(narrow && piece->first == 0);
    if (narrow) CHECK(piece->first >= 0 || !piece->count);
}

static void check_piece(const scene* s, const sap_cluster_piece* piece) {
    const int32_t depth = piece->tree->shape.depth;
    check_names(s, piece);
    CHECK_EQUAL(depth + piece->depth, s->one->shape.depth);
    CHECK_STATUS(sap_tree_verify(piece->tree), SAP_OK);
    bool same = true;
    for (int32_t d = 0; d < depth; d++)
        for (int64_t i = 0; i < (int64_t)1 << d; i++)
            same = same && same_node(piece->tree, ((int64_t)1 << d) + i, s->one,
                                     ((int64_t)1 << (piece->depth + d)) + (piece->index << d) + i);
    CHECK(same);
    for (int64_t leaf = 0; leaf < (int64_t)1 << depth; leaf++)
        same = same && same_leaf(s, piece, leaf, (piece->index << depth) + leaf);
    CHECK(same);
    CHECK(same_boxes(piece->tree, s->one, piece->depth, piece->index));
}

static void check_top(const scene* s, const sap_cluster_tree* tree) {
    for (int32_t i = 0; i < tree->plane_count; i++) {
        const sap_cut_plane* p = &tree->planes[i];
        const int64_t node = ((int64_t)1 << p->depth) + p->index;
        const void* splits = s->one->arrays + s->one->shape.split_at;
        CHECK_EQUAL(p->axis, s->one->arrays[s->one->shape.axis_at + (size_t)node]);
        CHECK(p->split == (s->real_bits == 64 ? ((const double*)splits)[node] : (double)((const float*)splits)[node]));
    }
}

static void check_share(const scene* s, const sap_cluster_tree* tree) {
    sap_cluster_info info;
    sap_tree_info one;
    CHECK_STATUS(sap_cluster_describe(tree, &info), SAP_OK);
    CHECK_STATUS(sap_tree_describe(s->one, &one), SAP_OK);
    CHECK_EQUAL(info.count, s->size);
    CHECK_EQUAL(info.depth, one.depth);
    const bool power = !(s->ranks & (s->ranks - 1));
    const int64_t share = (s->size + s->ranks - 1) / s->ranks, leaf = s->one->shape.capacity;
    const bool shares = s->one->shape.leaves >= s->ranks;
    if (power && shares) CHECK(info.count_here <= share);
    CHECK(info.count_here <= share + share / 16 + leaf);
    for (int32_t a = 0; a < s->dims; a++) CHECK(info.lower[a] == one.lower[a] && info.upper[a] == one.upper[a]);
}

static void check_parts(const scene* s, const sap_cluster_tree* tree) {
    for (int32_t i = 0; i < tree->piece_count; i++) check_piece(s, &tree->pieces[i]);
    check_top(s, tree);
    check_share(s, tree);
}

// ---- Answers

static void check_nearest(const scene* s, const sap_cluster_tree* tree, const cloud* queries) {
    static const int32_t ks[] = {1, 3, 8, 40};
    const int32_t k = ks[s->chance % 4];
    const size_t cells = (size_t)(queries->count * k) + 1, real = (size_t)s->real_bits / 8;
    const double radii[] = {0, 0, 0.25, INFINITY};
    const sap_search search = {.k = k, .radius = radii[s->chance / 4 % 4]};
    int64_t* ids = malloc(cells * sizeof *ids);
    int32_t* expected = malloc(cells * sizeof *expected);
    unsigned char *near = malloc(cells * real), *expected_near = malloc(cells * real);
    if (s->real_bits == 64) {
        const sap_points_f64 q = {queries->coords, queries->count, queries->dims, queries->stride};
        CHECK_STATUS(sap_cluster_nearest_f64(tree, q, &search, ids, (double*)(void*)near), SAP_OK);
        CHECK_STATUS(sap_nearest_f64(s->one, q, &search, expected, (double*)(void*)expected_near), SAP_OK);
    } else {
        const sap_points q = {queries->coords, queries->count, queries->dims, queries->stride};
        CHECK_STATUS(sap_cluster_nearest(tree, q, &search, ids, (float*)(void*)near), SAP_OK);
        CHECK_STATUS(sap_nearest(s->one, q, &search, expected, (float*)(void*)expected_near), SAP_OK);
    }
    bool same = !memcmp(near, expected_near, (cells - 1) * real);
    for (size_t i = 0; i + 1 < cells && same; i++) same = ids[i] == (expected[i] < 0 ? -1 : s->global[expected[i]]);
    CHECK(same);
    free(ids);
    free(expected);
    free(near);
    free(expected_near);
}

// The one tree's own searches, by id, and the rows of the points that this rank holds.
static void check_self(const scene* s, const sap_cluster_tree* tree) {
    const int32_t k = 1 + (int32_t)(s->chance / 64 % 6);
    const size_t real = (size_t)s->real_bits / 8;
    const sap_search search = {.k = k, .with_self = s->chance % 2};
    sap_cluster_info info;
    CHECK_STATUS(sap_cluster_describe(tree, &info), SAP_OK);
    const size_t here = (size_t)info.count_here, cells = here * (size_t)k + 1, all = (size_t)(s->size * k) + 1;
    int64_t *held = malloc((here + 1) * sizeof *held), *ids = malloc(cells * sizeof *ids);
    int32_t* expected = malloc(all * sizeof *expected);
    unsigned char *coords = malloc((here + 1) * (size_t)s->dims * real), *near = malloc(cells * real);
    unsigned char* far = malloc(all * real);
    if (s->real_bits == 64) {
        CHECK_STATUS(sap_cluster_points(tree, held, NULL), SAP_ERROR_ARGUMENT);
        CHECK_STATUS(sap_cluster_points_f64(tree, held, (double*)(void*)coords), SAP_OK);
        CHECK_STATUS(sap_cluster_nearest_self_f64(tree, &search, ids, (double*)(void*)near), SAP_OK);
        CHECK_STATUS(sap_nearest_self_f64(s->one, &search, expected, (double*)(void*)far), SAP_OK);
    } else {
        CHECK_STATUS(sap_cluster_points_f64(tree, held, NULL), SAP_ERROR_ARGUMENT);
        CHECK_STATUS(sap_cluster_points(tree, held, (float*)(void*)coords), SAP_OK);
        CHECK_STATUS(sap_cluster_nearest_self(tree, &search, ids, (float*)(void*)near), SAP_OK);
        CHECK_STATUS(sap_nearest_self(s->one, &search, expected, (float*)(void*)far), SAP_OK);
    }
    bool same = true;
    const cloud c = {coords, (int64_t)here, s->dims, s->dims, s->real_bits};
    for (size_t i = 0; i < here && same; i++) {
        int64_t row = 0, end = s->size; // ids ascend
        while (end - row > 1) *(s->global[(row + end) / 2] <= held[i] ? &row : &end) = (row + end) / 2;
        same = s->global[row] == held[i];
        for (int32_t a = 0; a < s->dims && same; a++)
            same = cloud_get(&c, (int64_t)i, a) == cloud_get(&s->points, row, a);
        const size_t at = i * (size_t)k, one = (size_t)row * (size_t)k;
        for (size_t j = 0; j < (size_t)k && same; j++)
            same = ids[at + j] == (expected[one + j] < 0 ? -1 : s->global[expected[one + j]]);
        same = same && !memcmp(near + at * real, far + one * real, (size_t)k * real);
    }
    CHECK(same);
    free(held);
    free(ids);
    free(expected);
    free(coords);
    free(near);
    free(far);
}

static double radius_of(const scene* s) {
    static const double radii[] = {0, 0.05, 0.3, 1.5, INFINITY};
    return s->chance / 16 % 5 == 4 && s->size > 1000 ? 0.1 : radii[s->chance / 16 % 5];
}

static void check_radius(const scene* s, const sap_cluster_tree* tree, const cloud* queries) {
    const double radius = radius_of(s);
    const size_t real = (size_t)s->real_bits / 8;
    sap_cluster_neighbors* found = NULL;
    sap_neighbors* expected = NULL;
    int64_t* counts = malloc(((size_t)queries->count + 1) * sizeof *counts);
    if (s->real_bits == 64) {
        const sap_points_f64 q = {queries->coords, queries->count, queries->dims, queries->stride};
        CHECK_STATUS(sap_cluster_radius_count_f64(tree, q, radius, counts), SAP_OK);
        CHECK_STATUS(sap_cluster_radius_f64(tree, q, radius, &found), SAP_OK);
        CHECK_STATUS(sap_radius_f64(s->one, q, radius, &expected), SAP_OK);
    } else {
        const sap_points q = {queries->coords, queries->count, queries->dims, queries->stride};
        CHECK_STATUS(sap_cluster_radius_count(tree, q, radius, counts), SAP_OK);
        CHECK_STATUS(sap_cluster_radius(tree, q, radius, &found), SAP_OK);
        CHECK_STATUS(sap_radius(s->one, q, radius, &expected), SAP_OK);
    }
    if (found && expected && CHECK_EQUAL(found->count, queries->count)) {
        const int64_t all = expected->offsets[queries->count];
        bool same = !memcmp(found->offsets, expected->offsets, ((size_t)queries->count + 1) * sizeof *counts);
        for (int64_t q = 0; q < queries->count && same; q++)
            same = counts[q] == expected->offsets[q + 1] - expected->offsets[q];
        CHECK(same);
        for (int64_t i = 0; i < all && same; i++) same = found->ids[i] == s->global[expected->ids[i]];
        CHECK(same);
        const void* near = s->real_bits == 64 ? (const void*)found->distance2_f64 : found->distance2;
        const void* far = s->real_bits == 64 ? (const void*)expected->distance2_f64 : expected->distance2;
        CHECK(!same || !all || !memcmp(near, far, (size_t)all * real));
    }
    sap_neighbors_free(expected);
    sap_cluster_neighbors_free(found);
    free(counts);
}

// Rows of pairs by id, and counts at radii.
static void check_pairs(const scene* s, const sap_cluster_tree* tree) {
    const double radius = s->size > 1000 ? 0.02 : radius_of(s), radii[] = {0, radius / 2, radius};
    const bool cumulative = s->chance % 2;
    const size_t real = (size_t)s->real_bits / 8;
    sap_cluster_info info;
    sap_cluster_neighbors* found = NULL;
    sap_neighbors* expected = NULL;
    double counts[3], expected_counts[3];
    CHECK_STATUS(sap_cluster_describe(tree, &info), SAP_OK);
    int64_t* held = malloc(((size_t)info.count_here + 1) * sizeof *held);
    if (s->real_bits == 64)
        CHECK_STATUS(sap_cluster_points_f64(tree, held, NULL), SAP_OK);
    else
        CHECK_STATUS(sap_cluster_points(tree, held, NULL), SAP_OK);
    CHECK_STATUS(sap_cluster_pairs(tree, radius, &found), SAP_OK);
    CHECK_STATUS(sap_pairs(s->one, radius, &expected), SAP_OK);
    bool same = found && expected && found->count == info.count_here;
    for (int64_t i = 0; i < info.count_here && same; i++) {
        int64_t row = 0, end = s->size; // ids ascend
        while (end - row > 1) *(s->global[(row + end) / 2] <= held[i] ? &row : &end) = (row + end) / 2;
        const int64_t from = expected->offsets[row], length = expected->offsets[row + 1] - from, at = found->offsets[i];
        same = found->offsets[i + 1] - at == length;
        for (int64_t j = 0; j < length && same; j++) same = found->ids[at + j] == s->global[expected->ids[from + j]];
        const char* near = s->real_bits == 64 ? (const char*)found->distance2_f64 : (const char*)found->distance2;
        const char* far = s->real_bits == 64 ? (const char*)expected->distance2_f64 : (const char*)expected->distance2;
        same = same && (!length || !memcmp(near + (size_t)at * real, far + (size_t)from * real, (size_t)length * real));
    }
    CHECK(same);
    CHECK_STATUS(sap_cluster_count_pairs(tree, radii, 3, cumulative, counts), SAP_OK);
    CHECK_STATUS(sap_tree_count_pairs(s->one, s->one, radii, 3, NULL, NULL, cumulative, expected_counts), SAP_OK);
    for (int i = 0; i < 3; i++) CHECK(counts[i] == expected_counts[i]);
    sap_neighbors_free(expected);
    sap_cluster_neighbors_free(found);
    free(held);
}

// Boxes between two queries each; some hold nothing, some are upside down.
static void check_boxes(const scene* s, const sap_cluster_tree* tree, const cloud* queries) {
    const int64_t half = queries->count / 2;
    const size_t after = (size_t)(half * queries->stride);
    sap_cluster_neighbors* found = NULL;
    sap_neighbors* expected = NULL;
    int64_t* counts = malloc(((size_t)half + 1) * sizeof *counts);
    if (s->real_bits == 64) {
        const double* coords = queries->coords;
        const sap_points_f64 low = {coords, half, queries->dims, queries->stride};
        const sap_points_f64 high = {coords ? coords + after : NULL, half, queries->dims, queries->stride};
        CHECK_STATUS(sap_cluster_box_count_f64(tree, low, high, counts), SAP_OK);
        CHECK_STATUS(sap_cluster_box_search_f64(tree, low, high, &found), SAP_OK);
        CHECK_STATUS(sap_box_search_f64(s->one, low, high, &expected), SAP_OK);
    } else {
        const float* coords = queries->coords;
        const sap_points low = {coords, half, queries->dims, queries->stride};
        const sap_points high = {coords ? coords + after : NULL, half, queries->dims, queries->stride};
        CHECK_STATUS(sap_cluster_box_count(tree, low, high, counts), SAP_OK);
        CHECK_STATUS(sap_cluster_box_search(tree, low, high, &found), SAP_OK);
        CHECK_STATUS(sap_box_search(s->one, low, high, &expected), SAP_OK);
    }
    bool same = found && expected && !found->distance2 && !found->distance2_f64;
    for (int64_t q = 0; q < half && same; q++)
        same =
            found->offsets[q + 1] == expected->offsets[q + 1] && counts[q] == found->offsets[q + 1] - found->offsets[q];
    for (int64_t i = 0; same && i < expected->offsets[half]; i++) same = found->ids[i] == s->global[expected->ids[i]];
    CHECK(same);
    sap_neighbors_free(expected);
    sap_cluster_neighbors_free(found);
    free(counts);
}

// Each rank asks its own.
static cloud queries_of(const scene* s, int32_t rank) {
    uint64_t state = s->chance + (uint64_t)rank;
    const int64_t count = rank % 3 == 1 ? 0 : 20 + rank;
    cloud q = cloud_make(count, s->dims, s->real_bits, rank % 2 ? 0 : s->dims + 2);
    for (int64_t i = 0; i < count; i++) {
        const int64_t own = s->size ? random_below(&state, s->size) : -1;
        for (int32_t a = 0; a < s->dims; a++) {
            double x = random_unit(&state);
            if (own >= 0 && i % 3 == 0) x = cloud_get(&s->points, own, a);
            if (own >= 0 && i % 3 == 1) x = x * 0.01 + cloud_get(&s->points, own, a);
            if (i == 5) x = cloud_limit(s->dims, s->real_bits);
            if (i == 7 && a == 0) x = (double)NAN;
            if (i == 8) x = s->real_bits == 64 ? 1e300 : 1e38;
            if (i == 10) x = 1000;
            cloud_set(&q, i, a, x);
        }
    }
    return q;
}

// The same points given by whom holds them: nothing moves.
static void check_rebuild(const scene* s, sap_cluster_tree* tree) {
    sap_cluster_info info;
    CHECK_STATUS(sap_cluster_describe(tree, &info), SAP_OK);
    const size_t here = (size_t)info.count_here + 1;
    int64_t* ids = malloc(here * sizeof *ids);
    void* coords = malloc(here * (size_t)s->dims * (size_t)s->real_bits / 8);
    if (s->real_bits == 64) {
        CHECK_STATUS(sap_cluster_points_f64(tree, ids, coords), SAP_OK);
        CHECK_STATUS(sap_cluster_rebuild_f64(tree, (sap_points_f64){coords, info.count_here, s->dims, 0}, ids), SAP_OK);
    } else {
        CHECK_STATUS(sap_cluster_points(tree, ids, coords), SAP_OK);
        CHECK_STATUS(sap_cluster_rebuild(tree, (sap_points){coords, info.count_here, s->dims, 0}, ids), SAP_OK);
    }
    CHECK_STATUS(sap_cluster_describe(tree, &info), SAP_OK);
    CHECK_EQUAL(info.moved, 0);
    free(ids);
    free(coords);
}

static void check_scene(rank_thread* r, void* context) {
    const scene* s = context;
    int64_t* ids;
    cloud share = share_of(s, sap_comm_rank(r->comm), &ids);
    sap_cluster_tree* tree = NULL;
    if (CHECK_STATUS(build_over(r, &share, s->with_ids ? ids : NULL, &s->options, &tree), SAP_OK)) {
        if (s->chance / 256 % 2) check_rebuild(s, tree);
        check_parts(s, tree);
        cloud queries = queries_of(s, sap_comm_rank(r->comm));
        check_nearest(s, tree, &queries);
        check_radius(s, tree, &queries);
        check_boxes(s, tree, &queries);
        check_self(s, tree);
        check_pairs(s, tree);
        cloud_free(&queries);
    }
    sap_cluster_free(tree);
    cloud_free(&share);
    free(ids);
}

static sap_status rebuild_over(sap_cluster_tree* tree, const cloud* c, const int64_t* ids) {
    if (c->real_bits == 64)
        return sap_cluster_rebuild_f64(tree, (sap_points_f64){c->coords, c->count, c->dims, c->stride}, ids);
    return sap_cluster_rebuild(tree, (sap_points){c->coords, c->count, c->dims, c->stride}, ids);
}

// The tree over points that lie near those of the tree before, but some of them: medians are not all where they are looked
// for first.
static void check_moved(rank_thread* r, const scene* s, sap_cluster_tree* tree, const cloud* share,
                        const int64_t* ids) {
    cloud moved = cloud_make(share->count, share->dims, share->real_bits, 0);
    for (int64_t i = 0; i < share->count; i++)
        for (int32_t a = 0; a < share->dims; a++)
            cloud_set(&moved, i, a, (sap_comm_rank(r->comm) || i % 5 ? 1.0001 : -3) * cloud_get(share, i, a));
    CHECK_STATUS(rebuild_over(tree, &moved, ids), SAP_OK);
    CHECK_STATUS(rebuild_over(tree, share, ids), SAP_OK);
    check_parts(s, tree);
    cloud_free(&moved);
}

static void check_cut(rank_thread* r, void* context) {
    const scene* s = context;
    int64_t* ids;
    cloud share = share_of(s, sap_comm_rank(r->comm), &ids);
    sap_cluster_tree* tree = NULL;
    if (CHECK_STATUS(build_over(r, &share, s->with_ids ? ids : NULL, &s->options, &tree), SAP_OK)) {
        check_parts(s, tree);
        check_rebuild(s, tree);
        check_moved(r, s, tree, &share, s->with_ids ? ids : NULL);
    }
    sap_cluster_free(tree);
    cloud_free(&share);
    free(ids);
}

TEST(is_the_one_tree) {
    NEEDS_RANKS;
    static const int64_t sizes[] = {0, 1, 2, 3, 15, 100, 1000, 3000};
    static const int32_t all_dims[] = {1, 2, 3, 3, 4, 7, 6, 12, 16};
    static const int32_t leaf_sizes[] = {0, 1, 2, 8, 0, 100};
    uint64_t state = 1;
    for (int kind = 0; kind < FAMILY_COUNT; kind++)
        for (int size = 0; size < 8; size++) {
            scene s = {.kind = (family)kind, .size = sizes[size]};
            s.dims = all_dims[random_below(&state, 9)];
            s.real_bits = random_below(&state, 2) ? 64 : 32;
            s.ranks = 1 + (int32_t)random_below(&state, size == 7 ? MOST_RANKS : 9) % most_ranks();
            s.give = (owners)random_below(&state, OWNERS_COUNT);
            s.with_ids = s.give == OWNERS_RANDOM || random_below(&state, 2);
            s.options.leaf_size = leaf_sizes[random_below(&state, 6)];
            s.options.axis = random_below(&state, 3) ? SAP_AXIS_WIDEST : SAP_AXIS_CYCLE;
            s.chance = random_next(&state);
            if (SLOW_TO_OPEN && (kind + size) % 19) continue;
            open_scene(&s);
            on_threads(s.ranks, check_scene, &s);
            close_scene(&s);
        }
}

// One rank has an id that needs more bits than all others, or just not: all ranks send ids alike.
TEST(ids_at_the_limit_of_32_bits) {
    NEEDS_RANKS;
    static const int64_t last[] = {INT32_MAX - 1, INT32_MAX, (int64_t)INT32_MAX + 1};
    for (int i = 0; i < 6; i++) {
        scene s = {.kind = FAMILY_UNIFORM, .size = 600, .dims = 3, .ranks = FEW_RANKS, .give = OWNERS_RANDOM};
        s.real_bits = i % 2 ? 64 : 32;
        s.with_ids = true;
        s.last_id = last[i / 2];
        s.chance = 129; // near ids
        open_scene(&s);
        on_threads(s.ranks, check_scene, &s);
        close_scene(&s);
    }
}

// So many points that several threads work on one node.
TEST(threads_share_a_node) {
    NEEDS_RANKS;
    static const family kinds[] = {FAMILY_UNIFORM, FAMILY_EQUAL, FAMILY_LATTICE};
    for (int i = 0; i < 6; i++) {
        scene s = {.kind = kinds[i % 3], .size = 110000, .dims = 2, .real_bits = 32, .with_ids = i >= 3};
        s.ranks = FEW_RANKS;
        s.give = s.with_ids ? OWNERS_RANDOM : OWNERS_BLOCKS;
        s.chance = 64 + (uint64_t)i;
        open_scene(&s);
        on_threads(s.ranks, check_cut, &s);
        close_scene(&s);
    }
}

// Ranks whose points lie apart, so that the median of all is nobody's own.
TEST(no_rank_has_the_median) {
    NEEDS_RANKS;
    for (int32_t bits = 32; bits <= 64; bits += 32) {
        scene s = {.kind = FAMILY_UNIFORM, .size = 55000, .dims = 3, .real_bits = bits, .ascends = true};
        s.ranks = FEW_RANKS;
        s.chance = 129;
        open_scene(&s);
        on_threads(s.ranks, check_cut, &s);
        close_scene(&s);
    }
}

// ---- Ids that are not different, which no caller may give: all points are there nevertheless

enum { TWINS = 900, TWIN = 7 };

// Points of all ranks with one id, beside one of each with another.
static void check_twins(rank_thread* r, void* context) {
    float coords[TWINS * 3], held[TWINS * 3 * FEW_RANKS], distance2[TWINS];
    int64_t ids[TWINS], found[TWINS], names[TWINS * FEW_RANKS], twins = 0;
    uint64_t state = (uint64_t)sap_comm_rank(r->comm) + 1;
    sap_cluster_tree* tree = NULL;
    sap_cluster_info info;
    (void)context;
    for (int i = 0; i < TWINS * 3; i++) coords[i] = (float)random_unit(&state);
    for (int i = 0; i < TWINS; i++) ids[i] = i ? TWIN : sap_comm_rank(r->comm);
    const sap_points points = {coords, TWINS, 3, 0};
    if (!CHECK_STATUS(sap_cluster_build(r->comm, r->device, points, ids, NULL, &tree), SAP_OK)) return;
    CHECK_STATUS(sap_cluster_nearest(tree, points, &(sap_search){.k = 1}, found, distance2), SAP_OK);
    for (int i = 0; i < TWINS; i++) CHECK(found[i] == ids[i] && distance2[i] == 0);
    CHECK_STATUS(sap_cluster_describe(tree, &info), SAP_OK);
    CHECK_STATUS(sap_cluster_points(tree, names, held), SAP_OK);
    for (int64_t i = 0; i < info.count_here; i++) {
        CHECK(i == 0 || info.subtrees > 1 || names[i] >= names[i - 1]);
        twins += names[i] == TWIN;
    }
    uint64_t all = (uint64_t)twins;
    CHECK_STATUS(sap_comm_all_reduce(r->comm, SAP_REDUCE_SUM, &all, 1), SAP_OK);
    CHECK_EQUAL((int64_t)all, (TWINS - 1) * sap_comm_size(r->comm));
    sap_cluster_free(tree);
}

TEST(ids_are_the_same) {
    NEEDS_RANKS;
    for (int32_t ranks = 1; ranks <= FEW_RANKS; ranks++) on_threads(ranks, check_twins, NULL);
}

// ---- Memory of rebuilds

enum { WARM_TURNS = 6, STEADY_TURNS = 4 };

// Turns of two sets of points: from some time on nothing is taken.
static void rebuild_steadily(rank_thread* r, void* context) {
    const scene* s = context;
    int64_t *ids, requests = 0, bytes = 0;
    cloud share = share_of(s, sap_comm_rank(r->comm), &ids);
    cloud moved = cloud_make(share.count, s->dims, 32, 0);
    uint64_t state = (uint64_t)sap_comm_rank(r->comm) + 3;
    for (int64_t i = 0; i < share.count; i++)
        for (int32_t a = 0; a < s->dims; a++)
            cloud_set(&moved, i, a, i % 4 ? cloud_get(&share, i, a) : random_unit(&state));
    sap_cluster_tree* tree = NULL;
    CHECK_STATUS(build_over(r, &share, ids, &s->options, &tree), SAP_OK);
    for (int turn = 0; turn < WARM_TURNS + STEADY_TURNS && tree; turn++) {
        if (turn == WARM_TURNS) {
            requests = r->w.requests;
            bytes = r->w.bytes;
        }
        CHECK_STATUS(rebuild_over(tree, turn % 2 ? &share : &moved, ids), SAP_OK);
    }
    CHECK_EQUAL(r->w.requests, requests);
    CHECK_EQUAL(r->w.bytes, bytes);
    if (tree) check_parts(s, tree);
    sap_cluster_free(tree);
    cloud_free(&moved);
    cloud_free(&share);
    free(ids);
}

TEST(rebuilds_take_the_memory_that_is_there) {
    NEEDS_RANKS;
    for (int32_t ranks = 1; ranks <= 5 && ranks <= most_ranks(); ranks++) {
        scene s = {.kind = FAMILY_UNIFORM, .size = 6000, .dims = 3, .real_bits = 32, .ranks = ranks, .with_ids = true};
        s.give = OWNERS_RANDOM;
        s.chance = 65;
        open_scene(&s);
        on_threads(ranks, rebuild_steadily, &s);
        close_scene(&s);
    }
}

// A rank's subtree of a tree that is too large to be made here: its last leaf ends where it does.
static void check_slice(const sap_cut* cut, int32_t depth, int64_t node) {
    const int64_t count = sap_cut_rank(cut, depth, node + 1) - sap_cut_rank(cut, depth, node);
    sap_tree_shape shape = {.count = count, .source_count = count, .dims = 3, .real_bits = 32};
    shape.slice = (sap_slice){cut->count, node << (cut->depth - depth), depth};
    if (CHECK(sap_shape_balanced(&shape, 32))) CHECK_EQUAL(sap_leaf_rank(&shape, shape.leaves), count);
}

// Nodes of the upper levels begin where those of one tree over all points would.
TEST(as_many_points_as_there_may_be) {
    static const int64_t counts[] = {1, 1000, INT64_C(1000000000000), (INT64_C(1) << 40) - 1};
    uint64_t state = 3;
    for (int c = 0; c < 4; c++)
        for (int32_t depth = 0; depth < 20; depth++) {
            const sap_cut cut = {.count = counts[c], .depth = c < 2 ? 37 : sap_balanced_depth(counts[c], 32)};
            const int64_t nodes = (int64_t)1 << depth, share = counts[c] >> depth, rest = counts[c] & (nodes - 1);
            CHECK_EQUAL(sap_cut_rank(&cut, depth, 0), 0);
            CHECK_EQUAL(sap_cut_rank(&cut, depth, nodes), counts[c]);
            for (int n = 0; n < 20; n++) {
                const int64_t node = random_below(&state, nodes);
                CHECK_EQUAL(sap_cut_rank(&cut, depth, node), node * share + (node * rest >> depth));
                CHECK_EQUAL(sap_cut_rank(&cut, depth, node), sap_cut_rank(&cut, depth + 1, 2 * node));
                if (c >= 2 && depth >= 9) check_slice(&cut, depth, node); // no more than 2^31 points
            }
        }
}

// Ranks that come to their messages in any order get the same answers.
TEST(messages_are_late) {
    NEEDS_RANKS;
    for (int32_t n = 0; n < 6; n++) {
        scene s = {.kind = (family)(n % FAMILY_COUNT), .size = 600, .dims = 3, .real_bits = 32};
        sap_comm *inner[MOST_RANKS], *comms[MOST_RANKS];
        faulty states[MOST_RANKS] = {{0}};
        s.ranks = 3 + 2 * n < most_ranks() ? 3 + 2 * n : most_ranks();
        s.give = OWNERS_RANDOM;
        s.with_ids = true;
        s.options.leaf_size = 4;
        s.chance = (uint64_t)n * 1237 + 256;
        open_scene(&s);
        if (!open_ranks(s.ranks, inner)) continue;
        for (int32_t r = 0; r < s.ranks; r++) {
            states[r] = (faulty){.inner = inner[r], .delays = (uint64_t)(r + 1) * 77};
            CHECK_STATUS(sap_comm_open(&faulty_engine, &states[r], r, s.ranks, NULL, &comms[r]), SAP_OK);
        }
        run_ranks(s.ranks, comms, check_scene, &s);
        close_ranks(s.ranks, comms);
        close_scene(&s);
    }
}

TEST_MAIN()
