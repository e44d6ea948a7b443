// The shared texts themselves, as C compiles them: lists of candidates, bounds, accessors, and both rooms' walks called
// without the rooms, so that the radius walk meets balanced trees too. Everything is compared with ==.
#include "cases.h"
#include "math/dialect.h"
#include "nearest/nearest_cpu.h"
#include "radius/radius_cpu.h"
#include "test.h"
#include "tree/leaves.h"
#include "tree/queries.h"

#define SAP_REAL_BITS 32
#define SAP_AXES      3
#include "math/specialise.h"

#include "math/distance.h"

#include "math/box.h"

#include "tree/access.h"

#define SAP_CAPACITY 1
#include "nearest/candidates/candidates.h"
#undef SAP_CAPACITY
#define SAP_CAPACITY 5
#include "nearest/candidates/candidates.h"
#undef SAP_CAPACITY
#define SAP_CAPACITY 32
#include "nearest/candidates/candidates.h"
#undef SAP_CAPACITY
#define SAP_CAPACITY 0
#include "nearest/candidates/candidates_memory.h"
#undef SAP_CAPACITY

TEST(trailing_zeros) {
    for (int bit = 0; bit < 32; bit++) {
        CHECK_EQUAL(sap_trailing_zeros(1u << bit), bit);
        CHECK_EQUAL(sap_trailing_zeros(0xffffffffu << bit), bit);
    }
}

TEST(bits_of_reals) {
    CHECK(sap_float_of_bits(0x3fc00000u) == 1.5f);
    CHECK(sap_double_of_bits(0x3ff8000000000000u) == 1.5);
}

typedef struct candidate {
    float distance2;
    int32_t id;
} candidate;

static int compare_candidates(const void* a, const void* b) {
    const candidate *x = a, *y = b;
    if (x->distance2 != y->distance2) return x->distance2 < y->distance2 ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static void same_place(float distance2, int32_t id, const candidate* all, int64_t inside, int64_t at) {
    CHECK_EQUAL(id, at < inside ? all[at].id : SAP_NO_ID);
    if (at < inside) CHECK(distance2 == all[at].distance2);
}

// Fills a list of each kind with the same candidates; places[] of the list are what sorting gives.
#define FILL_LIST(capacity)                                                                                            \
    static void fill_##capacity(const candidate* mixed, int count, const candidate* all, int64_t inside, int k,        \
                                float limit2) {                                                                        \
        sap_candidates list = sap_candidates_none(k, limit2);                                                          \
        for (int i = 0; i < count; i++) list = sap_candidates_insert(list, mixed[i].distance2, mixed[i].id);           \
        for (int i = 0; i < k; i++)                                                                                    \
            same_place(list.distance2[(capacity)-k + i], list.id[(capacity)-k + i], all, inside, i);                   \
        CHECK(sap_candidates_limit2(list) == list.distance2[(capacity)-1]);                                            \
        CHECK_EQUAL(sap_candidates_limit_id(list), list.id[(capacity)-1]);                                             \
    }
#define SAP_CAPACITY 1
FILL_LIST(1)
#undef SAP_CAPACITY
#define SAP_CAPACITY 5
FILL_LIST(5)
#undef SAP_CAPACITY
#define SAP_CAPACITY 32
FILL_LIST(32)
#undef SAP_CAPACITY

#define SAP_CAPACITY 0
static void fill_memory(const candidate* mixed, int count, const candidate* all, int64_t inside, int k, float limit2) {
    float distance2[64];
    int32_t id[64];
    sap_candidates list = sap_candidates_in(distance2, id, k, limit2);
    for (int i = 0; i < count; i++) list = sap_candidates_insert(list, mixed[i].distance2, mixed[i].id);
    CHECK_EQUAL(sap_candidates_limit_id(list), k <= inside ? all[k - 1].id : SAP_NO_ID);
    sap_candidates_sort(list);
    for (int i = 0; i < k; i++) same_place(distance2[i], id[i], all, inside, i);
}
#undef SAP_CAPACITY

// Distances are few whole numbers, so that most are equal, also to the limit.
TEST(lists_keep_the_first_candidates) {
    uint64_t state = 5;
    for (int trial = 0; trial < 3000; trial++) {
        candidate mixed[100] = {{0, 0}}, all[100];
        const int count = (int)random_below(&state, 100), k = 1 + (int)random_below(&state, 40);
        const int64_t different = 1 + random_below(&state, 20);
        const float limit2 = trial % 3 ? FLT_MAX : (float)random_below(&state, different);
        for (int i = 0; i < count; i++) mixed[i] = (candidate){(float)random_below(&state, different), i};
        for (int i = count - 1; i > 0; i--) {
            const int64_t other = random_below(&state, i + 1);
            const candidate moved = mixed[i];
            mixed[i] = mixed[other];
            mixed[other] = moved;
        }
        memcpy(all, mixed, sizeof all);
        qsort(all, (size_t)count, sizeof *all, compare_candidates);
        int64_t inside = 0;
        while (inside < count && all[inside].distance2 <= limit2) inside++;
        NOTE("trial %d", trial);
        fill_1(mixed, count, all, inside, 1, limit2);
        if (k <= 5) fill_5(mixed, count, all, inside, k, limit2);
        if (k <= 32) fill_32(mixed, count, all, inside, k, limit2);
        fill_memory(mixed, count, all, inside, k, limit2);
    }
}

// Boxes drawn around points of every family: neither bound may fail for a point on the border or inside.
TEST(bounds_hold_as_rounded) {
    for (int kind = 0; kind < FAMILY_COUNT; kind++) {
        cloud points = cloud_of_family((family)kind, 600, 3, 32, 0, 3);
        cloud queries = case_queries(&points, 600, 11);
        for (int64_t i = 0; i + 3 <= points.count; i++) {
            sap_box box;
            sap_point inside, query, offset;
            for (int32_t a = 0; a < 3; a++) {
                const float x = (float)cloud_get(&points, i, a), y = (float)cloud_get(&points, i + 1, a);
                box.lower.at[a] = x < y ? x : y;
                box.upper.at[a] = x < y ? y : x;
                inside.at[a] = i % 3 ? x : y;
                query.at[a] = (float)cloud_get(&queries, i, a);
                offset.at[a] = query.at[a] - inside.at[a];
            }
            if (!sap_point_finite(query)) continue;
            const float distance2 = sap_length2(offset);
            NOTE("%s point %d", family_name((family)kind), (int)i);
            CHECK(sap_box_nearest2(box, query) <= distance2);
            CHECK(sap_box_farthest2(box, query) >= distance2);
            CHECK(sap_box_nearest2(box, inside) == 0);
        }
        cloud_free(&points);
        cloud_free(&queries);
    }
}

// How many points are below a node, and their smallest id, by looking at all leaves there.
static int look_below(const sap_tree* tree, SAP_BITS node, int32_t* smallest) {
    const sap_inner inner = sap_inner_at(tree, node);
    if (!inner.is_leaf) return look_below(tree, inner.lower, smallest) + look_below(tree, inner.upper, smallest);
    const sap_leaf leaf = sap_leaf_at(tree, node);
    for (int slot = 0; slot < leaf.count; slot++)
        if (sap_leaf_id(tree, leaf, slot) < *smallest) *smallest = sap_leaf_id(tree, leaf, slot);
    return leaf.count;
}

static void check_below(const sap_tree* tree, SAP_BITS node, bool is_root) {
    int32_t smallest = SAP_NO_ID;
    CHECK_EQUAL(sap_count_below(tree, node), look_below(tree, node, &smallest));
    if (!is_root) CHECK_EQUAL(sap_smallest_id(tree, node), smallest);
    const sap_inner inner = sap_inner_at(tree, node);
    if (inner.is_leaf) return;
    check_below(tree, inner.lower, false);
    check_below(tree, inner.upper, false);
}

TEST(accessors_agree_with_the_leaves) {
    sap_device* device = NULL;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &device), SAP_OK);
    for (int i = 0; i < 60; i++) {
        const sap_tree_options options = {.split = (sap_split)(i % 3), .leaf_size = 1 + i / 3 % 3};
        cloud points = cloud_of_family((family)(i % FAMILY_COUNT), 1 + 7 * i, 3, 32, 0, (uint64_t)i);
        sap_tree* tree = NULL;
        NOTE("case %d", i);
        if (CHECK_STATUS(build(device, &points, &options, &tree), SAP_OK)) check_below(tree, SAP_ROOT, true);
        sap_tree_free(tree);
        cloud_free(&points);
    }
    for (int32_t count = 0; count <= SAP_LEAF_MAX; count++)
        CHECK_EQUAL(sap_explicit_stride(count), sap_leaf_stride(count, 32));
    sap_device_close(device);
}

static sap_rows rows_of(const cloud* c) { return (sap_rows){c->coords, c->count, c->stride, c->dims, c->real_bits}; }

// Both walks for one job, against the oracle.
static void check_nearest(const sap_tree* tree, const cloud* points, const cloud* queries, sap_nearest_job job,
                          const oracle_rules* rules) {
    const int32_t k = job.search.k;
    const size_t row_bytes = (size_t)k * (size_t)points->real_bits / 8;
    int32_t* ids = malloc((size_t)queries->count * (size_t)k * sizeof *ids + 1);
    unsigned char* distance2 = malloc((size_t)queries->count * row_bytes + 1);
    int32_t* row_ids = malloc((size_t)k * sizeof *row_ids);
    void* row_distance2 = malloc(row_bytes);
    for (int walk = SAP_WALK_STACK;
         walk <= (tree->shape.kind == SAP_TREE_BALANCED ? SAP_WALK_STACKLESS : SAP_WALK_STACK); walk++) {
        job.search.walk = (sap_walk)walk;
        job.ids = ids;
        job.distance2 = distance2;
        memset(ids, 7, (size_t)queries->count * (size_t)k * sizeof *ids);
        CHECK_STATUS(sap_nearest_walk_cpu(tree, &job), SAP_OK);
        for (int64_t q = 0; q < queries->count; q++) {
            CHECK(oracle_nearest(points, queries, q, k, rules, row_ids, row_distance2));
            CHECK(!memcmp(row_ids, ids + q * k, (size_t)k * sizeof *ids));
            CHECK(!memcmp(row_distance2, distance2 + (size_t)q * row_bytes, row_bytes));
        }
    }
    free(ids);
    free(distance2);
    free(row_ids);
    free(row_distance2);
}

// The place of each id in the tree's own order.
static int32_t* tree_order(const sap_tree* tree) {
    int32_t* place = calloc((size_t)tree->shape.source_count + 1, sizeof *place);
    int32_t next = 0;
    for (int64_t at = 0; tree->shape.count > 0 && at < sap_leaf_places(tree); at++) {
        const sap_leaf_block leaf = sap_leaf_block_at(tree, at);
        for (int32_t slot = 0; slot < leaf.count; slot++) place[leaf.ids[slot]] = next++;
    }
    CHECK_EQUAL(next, tree->shape.count);
    return place;
}

// The radius walk for one job, counted and collected, against the oracle.
static void check_radius(const sap_tree* tree, const cloud* points, const cloud* queries, sap_radius_job job,
                         const oracle_rules* rules) {
    int64_t* counts = malloc(((size_t)queries->count + 1) * sizeof *counts);
    int32_t* ids = malloc(((size_t)points->count + 1) * sizeof *ids);
    double* distance2 = malloc(((size_t)points->count + 1) * sizeof *distance2);
    int32_t* place = tree_order(tree);
    sap_neighbors* found = NULL;
    job.counts = counts;
    CHECK_STATUS(sap_radius_walk_cpu(tree, &job), SAP_OK);
    job.counts = NULL;
    job.found = &found;
    CHECK_STATUS(sap_radius_walk_cpu(tree, &job), SAP_OK);
    for (int64_t q = 0; q < queries->count; q++) {
        CHECK_EQUAL(counts[q], oracle_radius(points, queries, q, rules, ids, distance2));
        CHECK_EQUAL(counts[q], found->offsets[q + 1] - found->offsets[q]);
        for (int64_t i = found->offsets[q]; i < found->offsets[q + 1]; i++) {
            const int32_t id = found->ids[i];
            if (!CHECK(id >= 0 && id < points->count) || i == found->offsets[q]) break;
            CHECK(place[found->ids[i - 1]] < place[id]);
        }
    }
    CHECK_STATUS(sap_neighbors_sort(found), SAP_OK);
    for (int64_t q = 0; q < queries->count; q++) {
        const int64_t first = found->offsets[q], count = oracle_radius(points, queries, q, rules, ids, distance2);
        if (found->offsets[q + 1] - first != count || count == 0) continue;
        const void* row = points->real_bits == 64 ? (const void*)(found->distance2_f64 + first)
                                                  : (const void*)(found->distance2 + first);
        CHECK(!memcmp(found->ids + first, ids, (size_t)count * sizeof *ids));
        CHECK(!memcmp(row, distance2, (size_t)count * (size_t)points->real_bits / 8));
    }
    sap_neighbors_free(found);
    free(counts);
    free(ids);
    free(distance2);
    free(place);
}

static void try_case(sap_device* device, const search_case* c) {
    cloud points = case_points(c), queries = case_queries(&points, 24, c->chance);
    uint8_t* dropped = calloc((size_t)c->size + 1, 1);
    const double radius = case_radius(&points, &queries, c->chance);
    sap_tree* tree = NULL;
    NOTE("%s n %d dims %d f%d split %d leaf %d drop %d", family_name(c->kind), (int)c->size, c->dims, c->real_bits,
         (int)c->options.split, c->options.leaf_size, c->options.drop_duplicates);
    if (c->options.drop_duplicates) oracle_duplicates(&points, dropped);
    CHECK_STATUS(build(device, &points, &c->options, &tree), SAP_OK);
    int32_t k = case_k[c->chance % CASE_K];
    if (k < 0) k = (int32_t)c->size + 3;
    const bool self = c->chance >> 9 & 1 && c->size <= 100, with_self = c->chance >> 10 & 1;
    const double limit2 = sap_limit2(tree, c->chance >> 11 & 1 ? radius : (double)INFINITY);
    const cloud* asking = self ? &points : &queries;
    oracle_rules rules = {.dropped = dropped, .limit2 = limit2, .self = self, .with_self = with_self};
    sap_nearest_job nearest_job = {
        .queries = rows_of(asking), .search = {.k = k, .with_self = with_self}, .limit2 = limit2, .self = self};
    if (self) nearest_job.queries.coords = NULL;
    check_nearest(tree, &points, asking, nearest_job, &rules);
    rules.limit2 = sap_limit2(tree, radius);
    rules.with_self = false;
    rules.greater_only = self;
    sap_radius_job radius_job = {.queries = nearest_job.queries, .limit2 = rules.limit2, .self = self};
    check_radius(tree, &points, asking, radius_job, &rules);
    sap_tree_free(tree);
    free(dropped);
    cloud_free(&points);
    cloud_free(&queries);
}

TEST(walks_agree_with_the_oracle) {
    const sap_device_options options = {.processor = SAP_CPU, .threads = 2};
    sap_device* device = NULL;
    search_case c;
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    for (int i = 0; i < CASE_COUNT; i++)
        if (case_choose(i, &c) && (c.chance >> 50) % (c.size <= 100 ? 2 : 12) == 0) try_case(device, &c);
    sap_device_close(device);
}

// Equal points: no walk may look at more than the leaves that hold the answer and the one where it begins.
TEST(equal_points_stay_cheap) {
    sap_device* device = NULL;
    cloud points = cloud_of_family(FAMILY_EQUAL, 100000, 3, 32, 0, 1);
    cloud query = cloud_part(&points, 77777, 1);
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &device), SAP_OK);
    for (int i = 0; i < 12; i++) {
        const sap_tree_options options = {.split = (sap_split)(i % 2), .leaf_size = i % 4 < 2 ? 1 : 32};
        static const int32_t ks[] = {1, 8, 100};
        int32_t ids[100];
        sap_search_stats stats = {0, 0, 0};
        sap_tree* tree = NULL;
        if (!CHECK_STATUS(build(device, &points, &options, &tree), SAP_OK)) continue;
        for (int walk = SAP_WALK_STACK; walk <= (i % 2 ? SAP_WALK_STACK : SAP_WALK_STACKLESS); walk++) {
            const int32_t k = ks[i / 4];
            sap_nearest_job job = {.queries = rows_of(&query),
                                   .limit2 = (double)FLT_MAX,
                                   .ids = ids,
                                   .search = {.k = k, .walk = (sap_walk)walk, .stats = &stats}};
            NOTE("split %d leaf %d walk %d k %d", i % 2, options.leaf_size, walk, (int)k);
            stats = (sap_search_stats){0, 0, 0};
            CHECK_STATUS(sap_nearest_walk_cpu(tree, &job), SAP_OK);
            for (int32_t at = 0; at < k; at++) CHECK_EQUAL(ids[at], at);
            CHECK(stats.points >= k && stats.points <= k + 2 * tree->shape.capacity);
            CHECK(stats.nodes <= tree->shape.depth + 2 * stats.leaves);
        }
        sap_tree_free(tree);
    }
    cloud_free(&points);
    sap_device_close(device);
}

TEST_MAIN()
