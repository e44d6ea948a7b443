// Points that come and go: after any history a set answers as a tree does that is built from the points it holds.
#include "calls.h"
#include "cases.h"
#include "sapwood/sets.h"
#include "stage.h"

enum { QUERIES = 12, MOST_K = 40 };

// What a set should hold: a row for each id that there has been.
typedef struct model {
    sap_device* device;
    sap_set* set;
    cloud points; // row i has id i
    bool* is_in;
    int64_t next, live;
    uint64_t chance;
} model;

static model model_open(sap_device* device, int32_t dims, int32_t real_bits, bool background, int64_t room,
                        uint64_t seed) {
    model m = {.device = device, .points = cloud_make(room, dims, real_bits, 0), .is_in = calloc((size_t)room, 1)};
    m.chance = (uint64_t)dims * 64 + (uint64_t)real_bits + background + (seed << 32);
    const sap_set_options options = {.real_bits = real_bits, .background = background};
    CHECK_STATUS(sap_set_create(device, dims, &options, &m.set), SAP_OK);
    return m;
}

static void model_close(model* m) {
    sap_set_free(m->set);
    cloud_free(&m->points);
    free(m->is_in);
}

static sap_status insert(sap_set* set, const cloud* points, const int32_t* ids, int32_t* given) {
    return points->real_bits == 64 ? sap_set_insert_f64(set, cloud_f64(points), ids, given)
                                   : sap_set_insert(set, cloud_f32(points), ids, given);
}

static sap_status set_nearest(const sap_set* set, const cloud* queries, const sap_search* search, int32_t* ids,
                              void* distance2) {
    return queries->real_bits == 64 ? sap_set_nearest_f64(set, cloud_f64(queries), search, ids, distance2)
                                    : sap_set_nearest(set, cloud_f32(queries), search, ids, distance2);
}

static sap_status set_count(const sap_set* set, const cloud* queries, double radius, int64_t* counts) {
    return queries->real_bits == 64 ? sap_set_radius_count_f64(set, cloud_f64(queries), radius, counts)
                                    : sap_set_radius_count(set, cloud_f32(queries), radius, counts);
}

static sap_status set_radius(const sap_set* set, const cloud* queries, double radius, sap_neighbors** found) {
    return queries->real_bits == 64 ? sap_set_radius_f64(set, cloud_f64(queries), radius, found)
                                    : sap_set_radius(set, cloud_f32(queries), radius, found);
}

// ---- Steps of a history

// Inserts points of a family, counted by the set or with the ids given in some order.
static void insert_some(model* m, family kind, int64_t count, bool gives) {
    cloud fresh = cloud_of_family(kind, count, m->points.dims, m->points.real_bits, m->chance % 5 ? 0 : 17,
                                  random_next(&m->chance));
    int32_t *ids = malloc((size_t)count * sizeof *ids + 1), *given = malloc((size_t)count * sizeof *given + 1);
    for (int64_t i = 0; i < count; i++) ids[i] = (int32_t)(m->next + i);
    for (int64_t i = count - 1; i > 0; i--) {
        const int64_t j = random_below(&m->chance, i + 1);
        const int32_t moved = ids[i];
        ids[i] = ids[j];
        ids[j] = moved;
    }
    CHECK_STATUS(insert(m->set, &fresh, gives ? ids : NULL, given), SAP_OK);
    for (int64_t i = 0; i < count; i++) {
        if (given[i] != (gives ? ids[i] : (int32_t)(m->next + i))) CHECK_EQUAL(given[i], i);
        for (int32_t a = 0; a < fresh.dims; a++) cloud_set(&m->points, given[i], a, cloud_get(&fresh, i, a));
        m->is_in[given[i]] = true;
    }
    m->next += count;
    m->live += count;
    free(ids);
    free(given);
    cloud_free(&fresh);
}

// Removes ids, some of which are not in the set.
static void remove_some(model* m, int64_t count) {
    int32_t* ids = malloc((size_t)count * sizeof *ids + 1);
    int64_t expected = 0, removed = -1;
    for (int64_t i = 0; i < count; i++) {
        const int64_t id = random_below(&m->chance, m->next + 2) - 1;
        ids[i] = (int32_t)id;
        if (id < 0 || id >= m->next || !m->is_in[id]) continue;
        m->is_in[id] = false;
        expected++;
    }
    CHECK_STATUS(sap_set_remove(m->set, ids, count, &removed), SAP_OK);
    CHECK_EQUAL(removed, expected);
    m->live -= expected;
    free(ids);
}

// Puts points that were removed back under their ids, elsewhere.
static void return_some(model* m, int64_t most) {
    cloud fresh = cloud_make(most, m->points.dims, m->points.real_bits, 0);
    int32_t* ids = malloc((size_t)most * sizeof *ids + 1);
    int64_t count = 0;
    for (int64_t tried = 0; tried < 4 * most && count < most && m->next > 0; tried++) {
        const int64_t id = random_below(&m->chance, m->next);
        if (m->is_in[id]) continue;
        for (int32_t a = 0; a < fresh.dims; a++) {
            cloud_set(&fresh, count, a, random_unit(&m->chance));
            cloud_set(&m->points, id, a, cloud_get(&fresh, count, a));
        }
        m->is_in[id] = true;
        ids[count++] = (int32_t)id;
    }
    fresh.count = count;
    CHECK_STATUS(insert(m->set, &fresh, ids, NULL), SAP_OK);
    m->live += count;
    free(ids);
    cloud_free(&fresh);
}

static void trim_some(model* m, bool cuts, double width) {
    double lower[SAP_MAX_DIMS], upper[SAP_MAX_DIMS];
    int64_t expected = 0, removed = -1;
    const int64_t middle = m->next ? random_below(&m->chance, m->next) : 0;
    for (int32_t a = 0; a < m->points.dims; a++) {
        const double at = m->next ? cloud_get(&m->points, middle, a) : 0;
        lower[a] = at - width * random_unit(&m->chance);
        upper[a] = random_below(&m->chance, 3) ? at + width * random_unit(&m->chance) : at;
    }
    for (int64_t id = 0; id < m->next; id++) {
        bool inside = true;
        for (int32_t a = 0; a < m->points.dims && inside; a++) {
            const double x = cloud_get(&m->points, id, a);
            inside = lower[a] <= x && x <= upper[a];
        }
        if (!m->is_in[id] || inside != cuts) continue;
        m->is_in[id] = false;
        expected++;
    }
    CHECK_STATUS((cuts ? sap_set_cut_box : sap_set_keep_box)(m->set, lower, upper, &removed), SAP_OK);
    CHECK_EQUAL(removed, expected);
    m->live -= expected;
}

// ---- The check

static void compare_rows(const sap_neighbors* got, const sap_neighbors* expected, const int32_t* ids) {
    const bool is_wide = got->distance2_f64 != NULL;
    for (int64_t i = 0; i <= QUERIES; i++)
        if (got->offsets[i] != expected->offsets[i]) CHECK_EQUAL(got->offsets[i], expected->offsets[i]);
    if (got->offsets[QUERIES] != expected->offsets[QUERIES]) return;
    for (int64_t i = 0; i < got->offsets[QUERIES]; i++) {
        if (got->ids[i] != ids[expected->ids[i]]) CHECK_EQUAL(got->ids[i], ids[expected->ids[i]]);
        if (is_wide ? got->distance2_f64[i] != expected->distance2_f64[i] : got->distance2[i] != expected->distance2[i])
            CHECK_EQUAL(i, -1);
    }
}

static void compare_radius(const model* m, const sap_tree* tree, const cloud* queries, const int32_t* ids,
                           double radius) {
    sap_neighbors *got = NULL, *expected = NULL;
    int64_t counts[2][QUERIES];
    CHECK_STATUS(set_radius(m->set, queries, radius, &got), SAP_OK);
    CHECK_STATUS(radius_collect(tree, queries, radius, &expected), SAP_OK);
    CHECK_STATUS(sap_neighbors_sort(expected), SAP_OK);
    compare_rows(got, expected, ids);
    CHECK_STATUS(set_count(m->set, queries, radius, counts[0]), SAP_OK);
    CHECK_STATUS(radius_count(tree, queries, radius, counts[1]), SAP_OK);
    CHECK(!memcmp(counts[0], counts[1], sizeof counts[0]));
    sap_neighbors_free(got);
    sap_neighbors_free(expected);
}

static void compare_nearest(const model* m, const sap_tree* tree, const cloud* queries, const int32_t* ids, int32_t k,
                            double radius) {
    int32_t got[QUERIES * MOST_K], expected[QUERIES * MOST_K], without[2][QUERIES];
    double distance2[2][QUERIES * MOST_K];
    sap_search search = {.k = k, .radius = radius};
    const size_t answers = QUERIES * (size_t)k;
    const int parts = is_gpu(m->device) ? 1 : 2; // GPUs leave no ids out
    for (int part = 0; part < parts; part++) {
        CHECK_STATUS(set_nearest(m->set, queries, &search, got, distance2[0]), SAP_OK);
        search.without_ids = part ? without[1] : NULL;
        CHECK_STATUS(nearest(tree, queries, &search, expected, distance2[1]), SAP_OK);
        for (size_t i = 0; i < answers; i++)
            if (got[i] != (expected[i] < 0 ? -1 : ids[expected[i]])) CHECK_EQUAL(got[i], expected[i]);
        CHECK(!memcmp(distance2[0], distance2[1], answers * (size_t)(queries->real_bits / 8)));
        for (int q = 0; q < QUERIES; q++) { // then without the nearest
            without[1][q] = expected[q * k];
            without[0][q] = got[q * k];
        }
        search.without_ids = without[0];
    }
}

static void compare(model* m) {
    cloud held = cloud_make(m->live, m->points.dims, m->points.real_bits, 0);
    int32_t* ids = malloc((size_t)m->live * sizeof *ids + 1);
    int64_t count = 0;
    for (int64_t id = 0; id < m->next; id++) {
        if (!m->is_in[id]) continue;
        for (int32_t a = 0; a < held.dims; a++) cloud_set(&held, count, a, cloud_get(&m->points, id, a));
        ids[count++] = (int32_t)id;
    }
    CHECK_EQUAL(count, m->live);
    cloud queries = case_queries(&held, QUERIES, random_next(&m->chance));
    sap_tree* tree = NULL;
    sap_set_info info = {0};
    CHECK_STATUS(build(m->device, &held, NULL, &tree), SAP_OK);
    CHECK_STATUS(sap_set_describe(m->set, &info), SAP_OK);
    CHECK_EQUAL(info.count, m->live);
    CHECK_EQUAL(info.next_id, m->next);
    static const int32_t ks[] = {1, 5, 8, 13, 40};
    const double radius = case_radius(&held, &queries, random_next(&m->chance));
    compare_nearest(m, tree, &queries, ids, ks[random_below(&m->chance, 5)], m->chance % 3 ? 0 : radius);
    if (m->live < 5000 || isfinite(radius)) compare_radius(m, tree, &queries, ids, radius);
    sap_tree_free(tree);
    cloud_free(&held);
    cloud_free(&queries);
    free(ids);
}

// ---- Tests

#if defined(SAP_EMULATED)
enum { HISTORY = TEST_SANITIZED ? 12 : 25, PIECES = 500, HISTORIES = 6 };
#else
enum { HISTORY = TEST_SANITIZED ? 40 : 150, PIECES = 700, HISTORIES = 12 };
#endif

// SETS_STEPS in the environment, for a long look: so many steps in all, in further histories.
static int64_t histories_asked(void) {
    const char* asked = getenv("SETS_STEPS");
    const int64_t histories = asked ? atoll(asked) / HISTORY : 0;
    return histories > HISTORIES ? histories : HISTORIES;
}

static void live_through(model* m, family kind) {
    for (int64_t step = 0; step < HISTORY; step++) {
        const int64_t what = random_below(&m->chance, 16), count = random_below(&m->chance, PIECES);
        NOTE("%s %d-D f%d, step %d: %d, %d points", family_name(kind), m->points.dims, m->points.real_bits, (int)step,
             (int)what, (int)m->live);
        if (what < 7 && m->next + 8 * count <= m->points.count)
            insert_some(m, kind, what ? count : 8 * count, what % 2);
        else if (what >= 7 && what < 10)
            remove_some(m, 2 * count);
        else if (what < 12)
            return_some(m, count / 4);
        else if (what == 12)
            trim_some(m, false, step % 10 ? 1e6 : 0.6);
        else if (what == 13)
            trim_some(m, true, 0.3);
        if (what > 11 || step % 8 == 0) compare(m);
    }
}

TEST(histories_end_as_trees) {
    static const family kinds[] = {FAMILY_UNIFORM,    FAMILY_LATTICE,   FAMILY_EQUAL,
                                   FAMILY_MINUS_ZERO, FAMILY_CLUSTERED, FAMILY_MIXED};
    static const int32_t dims[] = {3, 2, 1, 5};
    devices all = devices_open(0);
    for (int64_t i = 0; i < histories_asked(); i++) {
        model m = model_open(all.open[(i + 1) % all.count], dims[i % 4], i % 5 < 3 ? 32 : 64, i % 2,
                             (int64_t)HISTORY * PIECES * 8 + 1000, (uint64_t)(i / HISTORIES));
        live_through(&m, kinds[i % 6]);
        trim_some(&m, false, -1); // nothing is left
        compare(&m);
        insert_some(&m, kinds[i % 6], 600, false);
        compare(&m);
        model_close(&m);
    }
    devices_close(&all);
}

// An id that was removed comes back at once, again and again: it is one point each time.
TEST(ids_come_back) {
    devices all = devices_open(1);
    for (int d = 0; d < all.count; d++) {
        sap_set* set = NULL;
        cloud points = cloud_of_family(FAMILY_UNIFORM, 30, 3, 32, 0, 4);
        const int32_t id = 3;
        CHECK_STATUS(sap_set_create(all.open[d], 3, NULL, &set), SAP_OK);
        CHECK_STATUS(insert(set, &points, NULL, NULL), SAP_OK);
        for (int64_t turn = 0; turn < 6; turn++) {
            const cloud next = cloud_part(&points, 10 + turn, 1);
            const int32_t beside = (int32_t)(10 + turn); // the point that lies where the id is next
            int32_t nearest[2];
            int64_t removed = -1;
            NOTE("device %d turn %d", d, (int)turn);
            CHECK_STATUS(sap_set_remove(set, &id, 1, &removed), SAP_OK);
            CHECK_EQUAL(removed, 1);
            CHECK_STATUS(sap_set_remove(set, &id, 1, &removed), SAP_OK);
            CHECK_EQUAL(removed, 0);
            CHECK_STATUS(insert(set, &next, &id, NULL), SAP_OK);
            CHECK_STATUS(insert(set, &next, &id, NULL), SAP_ERROR_ARGUMENT); // it is in the set
            CHECK_STATUS(set_nearest(set, &next, &(sap_search){.k = 2}, nearest, NULL), SAP_OK);
            CHECK(nearest[0] == id && nearest[1] == beside);
        }
        sap_set_free(set);
        cloud_free(&points);
    }
    devices_close(&all);
}

#if !defined(SAP_EMULATED) // what follows is of the CPU alone

// Points come one by one and go one by one, a window of a few thousand.
static void one_by_one(family kind, int64_t steps, int64_t window) {
    sap_device* device;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU, .threads = 1}, &device), SAP_OK);
    model m = model_open(device, 3, 32, false, steps, 0);
    cloud all = cloud_of_family(kind, 1000, 3, 32, 0, 9);
    size_t most_bytes = 0;
    for (int64_t step = 0; step < steps; step++) {
        const cloud one = cloud_part(&all, step * 7 % 1000, 1);
        int32_t given = -1;
        if (insert(m.set, &one, NULL, &given) != SAP_OK || given != step) CHECK_EQUAL(given, step);
        for (int32_t a = 0; a < 3; a++) cloud_set(&m.points, step, a, cloud_get(&one, 0, a));
        m.is_in[step] = true;
        m.next++, m.live++;
        const int32_t old = (int32_t)(step - window);
        int64_t removed = 1;
        if (old >= 0) {
            if (sap_set_remove(m.set, &old, 1, &removed) != SAP_OK || removed != 1) CHECK_EQUAL(removed, 1);
            m.is_in[old] = false;
            m.live--;
        }
        if (step % (steps / 16) == steps / 16 - 1) {
            sap_set_info info;
            compare(&m);
            CHECK_STATUS(sap_set_describe(m.set, &info), SAP_OK);
            if (step < steps / 2 && info.bytes > most_bytes) most_bytes = info.bytes;
            if (step >= steps / 2) CHECK(info.bytes <= most_bytes + most_bytes / 4); // memory is bounded by the window
        }
    }
    model_close(&m);
    cloud_free(&all);
    sap_device_close(device);
}

TEST(a_window_moves_point_by_point) {
    const int64_t steps = TEST_SANITIZED ? 40000 : 400000;
    one_by_one(FAMILY_UNIFORM, steps, 3000);
    one_by_one(FAMILY_EQUAL, steps / 2, 1000);
    one_by_one(FAMILY_LATTICE, steps / 2, steps / 16);
}

static uint64_t hash_of(uint64_t hash, const void* bytes, size_t size) {
    for (size_t i = 0; i < size; i++) hash = (hash ^ ((const unsigned char*)bytes)[i]) * UINT64_C(0x100000001B3);
    return hash;
}

// Every answer of a history with large merges.
static uint64_t large_history(bool background, int64_t batch) {
    enum { ROUNDS = 14, PER_ROUND = 12000, ASKED = 600, K = 4 };
    sap_device* device;
    sap_set* set;
    cloud points = cloud_of_family(FAMILY_CLUSTERED, ROUNDS * PER_ROUND, 3, 32, 0, 5);
    cloud queries = cloud_of_family(FAMILY_CLUSTERED, ASKED, 3, 32, 0, 5);
    int32_t ids[ASKED * K];
    float distance2[ASKED * K];
    uint64_t hash = UINT64_C(0xcbf29ce484222325), chance = 3;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU, .threads = 2}, &device), SAP_OK);
    CHECK_STATUS(sap_set_create(device, 3, &(sap_set_options){.background = background}, &set), SAP_OK);
    for (int64_t round = 0; round < ROUNDS; round++) {
        int32_t gone[500];
        int64_t removed;
        for (int64_t at = 0; at < PER_ROUND; at += batch) {
            const cloud part =
                cloud_part(&points, round * PER_ROUND + at, batch < PER_ROUND - at ? batch : PER_ROUND - at);
            CHECK_STATUS(insert(set, &part, NULL, NULL), SAP_OK);
        }
        for (int i = 0; i < 500; i++) gone[i] = (int32_t)random_below(&chance, (round + 1) * PER_ROUND);
        CHECK_STATUS(sap_set_remove(set, gone, 500, &removed), SAP_OK);
        hash = hash_of(hash, &removed, sizeof removed);
        const double lower[3] = {-INFINITY, 0.001 * (double)round, -INFINITY},
                     upper[3] = {INFINITY, INFINITY, 1 - 0.001 * (double)round};
        CHECK_STATUS(sap_set_keep_box(set, lower, upper, &removed), SAP_OK);
        hash = hash_of(hash, &removed, sizeof removed);
        CHECK_STATUS(set_nearest(set, &queries, &(sap_search){.k = K}, ids, distance2), SAP_OK);
        hash = hash_of(hash_of(hash, ids, sizeof ids), distance2, sizeof distance2);
    }
    sap_set_free(set);
    cloud_free(&points);
    cloud_free(&queries);
    sap_device_close(device);
    return hash;
}

TEST(batches_and_background_do_not_show) {
    const uint64_t expected = large_history(false, 1000);
    CHECK(large_history(true, 1000) == expected);
    CHECK(large_history(true, 4000) == expected);
    CHECK(large_history(false, 12000) == expected);
}

// Every request for memory is refused in turn: the set stays as it was, and goes on.
static void try_failures(int64_t held, int64_t added, bool background) {
    watch w = {0};
    sap_device_options options = watched(&w);
    options.threads = 1;
    sap_device* device;
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    cloud first = cloud_of_family(FAMILY_UNIFORM, held, 3, 32, 0, 1),
          more = cloud_of_family(FAMILY_UNIFORM, added, 3, 32, 0, 2);
    int32_t *ids = malloc((size_t)added * sizeof *ids), *given = malloc((size_t)added * sizeof *given);
    for (int64_t i = 0; i < added; i++) ids[i] = (int32_t)(held + added - i);
    bool done = false;
    for (int64_t refused_at = 1; refused_at < 40 && !done; refused_at++) {
        sap_set* set = NULL;
        NOTE("%d of %d, request %d", (int)added, (int)held, (int)refused_at);
        w = (watch){.blocks = w.blocks, .bytes = w.bytes, .wrong = w.wrong, .fail_from = refused_at};
        sap_status status = sap_set_create(device, 3, &(sap_set_options){.background = background}, &set);
        CHECK(status == SAP_OK ? set != NULL : status == SAP_ERROR_MEMORY && !set);
        if (status != SAP_OK) continue;
        w.paused = true;
        CHECK_STATUS(insert(set, &first, NULL, NULL), SAP_OK);
        sap_device_trim(device);
        w.paused = false;
        int32_t found[2];
        given[0] = -7;
        status = insert(set, &more, ids, given);
        CHECK(status == SAP_OK || (status == SAP_ERROR_MEMORY && w.logged == status && given[0] == -7));
        sap_set_info info;
        CHECK_STATUS(sap_set_describe(set, &info), SAP_OK);
        CHECK_EQUAL(info.count, held + (status == SAP_OK ? added : 0));
        const cloud one = cloud_part(&more, 0, 1);
        const sap_status asked = set_nearest(set, &one, &(sap_search){.k = 2}, found, NULL);
        CHECK(asked == SAP_OK && (found[0] == ids[0]) == (status == SAP_OK));
        CHECK_STATUS(sap_set_remove(set, (int32_t[]){1, 2, 3}, held > 3 ? 3 : 0, NULL), SAP_OK);
        CHECK_STATUS(sap_set_keep_box(set, (double[]){0.5, 0, 0}, (double[]){1, 1, 1}, NULL), SAP_OK);
        w.paused = true;
        CHECK_STATUS(insert(set, &first, NULL, NULL), SAP_OK);
        w.paused = false;
        done = w.requests < refused_at;
        sap_set_free(set);
    }
    CHECK(done);
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
    CHECK_EQUAL(w.wrong, 0);
    free(ids);
    free(given);
    cloud_free(&first);
    cloud_free(&more);
}

TEST(failed_allocations_change_nothing) {
    try_failures(100, 100, false);
    try_failures(3000, 600, false);
    try_failures(9000, 9000, false);
    try_failures(70000, 3000, true);
}

// One search of a set; on failure nothing is written.
static sap_status set_search(const sap_set* set, const cloud* queries, int call, int32_t* ids, int32_t k) {
    sap_neighbors* found = NULL;
    int64_t counts[QUERIES] = {-7};
    sap_status status;
    ids[0] = -7;
    if (call == 0)
        status = set_nearest(set, queries, &(sap_search){.k = k}, ids, NULL);
    else if (call == 1)
        status = set_radius(set, queries, 0.3, &found);
    else
        status = set_count(set, queries, 0.3, counts);
    CHECK((ids[0] != -7) == (call == 0 && status == SAP_OK));
    CHECK((found != NULL) == (call == 1 && status == SAP_OK));
    CHECK((counts[0] != -7) == (call == 2 && status == SAP_OK));
    sap_neighbors_free(found);
    return status;
}

// Searches whose requests for memory are refused in turn: they say so, and the next one works.
TEST(searches_without_memory) {
    enum { MANY_K = 1500 };
    watch w = {0};
    sap_device_options options = watched(&w);
    options.threads = 1;
    sap_device* device;
    sap_set* set = NULL;
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    CHECK_STATUS(sap_set_create(device, 3, NULL, &set), SAP_OK);
    cloud points = cloud_of_family(FAMILY_UNIFORM, 6000, 3, 32, 0, 1), queries = cloud_part(&points, 50, QUERIES);
    int32_t* ids = malloc(sizeof *ids * QUERIES * MANY_K);
    CHECK_STATUS(insert(set, &points, NULL, NULL), SAP_OK);
    CHECK_STATUS(sap_set_remove(set, (int32_t[]){1, 2, 3}, 3, NULL), SAP_OK);
    for (int call = 0; call < 3; call++) {
        int refused = 0;
        for (sap_status status = SAP_ERROR_MEMORY; status == SAP_ERROR_MEMORY; refused++) {
            NOTE("call %d, %d requests before the refused one", call, refused);
            sap_device_trim(device);
            w.fail_from = w.requests + 1 + refused;
            status = set_search(set, &queries, call, ids, MANY_K);
            w.fail_from = 0;
            CHECK(status == SAP_OK || (status == SAP_ERROR_MEMORY && w.logged == status));
            if (!CHECK(refused < 40)) break;
        }
        CHECK(refused > 1 || call == 2);
        CHECK_STATUS(set_search(set, &queries, call, ids, MANY_K), SAP_OK);
    }
    sap_set_free(set);
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
    CHECK_EQUAL(w.wrong, 0);
    free(ids);
    cloud_free(&points);
}

TEST(refuses) {
    stage s;
    open_stage(&s);
    sap_set *set = NULL, *wide = NULL;
    const sap_points ten = {s.coords, 10, 3, 0}, flat = {s.coords, 10, 2, 0}, two = {s.coords, 2, 3, 0};
    const float bad[3] = {0, NAN, 0};
    const double low[3] = {0, 0, 0}, high[3] = {1, (double)NAN, 1};
    int32_t ids[10], given[2] = {-9, -9};
    int64_t counts[10], removed = -9;
    sap_neighbors* found = NULL;
    const sap_search one = {.k = 1};
    CHECK_STATUS(sap_set_create(NULL, 3, NULL, &set), SAP_ERROR_ARGUMENT);
    REFUSED(sap_set_create(s.device, 3, NULL, NULL), SAP_ERROR_ARGUMENT, "set");
    REFUSED(sap_set_create(s.device, 0, NULL, &set), SAP_ERROR_ARGUMENT, "dims");
    REFUSED(sap_set_create(s.device, 17, NULL, &set), SAP_ERROR_ARGUMENT, "dims");
    REFUSED(sap_set_create(s.device, 3, &(sap_set_options){.real_bits = 16}, &set), SAP_ERROR_ARGUMENT, "real_bits");
    REFUSED(sap_set_create(s.device, 3, &(sap_set_options){.reserved = {1}}, &set), SAP_ERROR_ARGUMENT, "options");
    CHECK(!set);
    CHECK_STATUS(sap_set_create(s.device, 3, NULL, &set), SAP_OK);
    CHECK_STATUS(sap_set_create(s.device, 3, &(sap_set_options){.real_bits = 64}, &wide), SAP_OK);
    CHECK_STATUS(sap_set_insert(set, ten, NULL, NULL), SAP_OK);
    CHECK_STATUS(sap_set_insert(NULL, ten, NULL, NULL), SAP_ERROR_ARGUMENT);
    REFUSED(sap_set_insert(set, flat, NULL, NULL), SAP_ERROR_ARGUMENT, "points.dims");
    REFUSED(sap_set_insert(wide, ten, NULL, NULL), SAP_ERROR_ARGUMENT, "64-bit");
    REFUSED(sap_set_insert(set, (sap_points){bad, 1, 3, 0}, NULL, given), SAP_ERROR_NOT_FINITE, "point 0");
    REFUSED(sap_set_insert(set, two, (int32_t[]){40, 9}, given), SAP_ERROR_ARGUMENT, "9 is in the set");
    REFUSED(sap_set_insert(set, two, (int32_t[]){40, 40}, given), SAP_ERROR_ARGUMENT, "40 is there twice");
    REFUSED(sap_set_insert(set, two, (int32_t[]){40, -1}, given), SAP_ERROR_ARGUMENT, "-1 is negative");
    REFUSED(sap_set_insert(set, two, (int32_t[]){40, INT32_MAX}, given), SAP_ERROR_RANGE, "above");
    CHECK_STATUS(sap_set_insert(set, (sap_points){s.coords, 1, 3, 0}, (int32_t[]){INT32_MAX - 2}, NULL), SAP_OK);
    REFUSED(sap_set_insert(set, two, NULL, given), SAP_ERROR_RANGE, "ids");
    CHECK_STATUS(sap_set_insert(set, (sap_points){s.coords, 1, 3, 0}, NULL, &ids[0]), SAP_OK);
    CHECK_EQUAL(ids[0], INT32_MAX - 1);
    REFUSED(sap_set_insert(set, (sap_points){s.coords, 1, 3, 0}, NULL, given), SAP_ERROR_RANGE, "ids");
    CHECK(given[0] == -9 && given[1] == -9);
    CHECK_STATUS(sap_set_remove(NULL, ids, 1, NULL), SAP_ERROR_ARGUMENT);
    REFUSED(sap_set_remove(set, NULL, 1, &removed), SAP_ERROR_ARGUMENT, "ids");
    REFUSED(sap_set_remove(set, ids, -1, &removed), SAP_ERROR_ARGUMENT, "count");
    CHECK_STATUS(sap_set_keep_box(NULL, low, low, NULL), SAP_ERROR_ARGUMENT);
    REFUSED(sap_set_keep_box(set, NULL, low, &removed), SAP_ERROR_ARGUMENT, "lower");
    REFUSED(sap_set_keep_box(set, low, NULL, &removed), SAP_ERROR_ARGUMENT, "upper");
    REFUSED(sap_set_cut_box(set, low, high, &removed), SAP_ERROR_ARGUMENT, "upper");
    CHECK_EQUAL(removed, -9);
    CHECK_STATUS(sap_set_remove(set, (int32_t[]){3, 3, 77, -1, INT32_MAX}, 5, &removed), SAP_OK);
    CHECK_EQUAL(removed, 1);
    REFUSED(sap_set_nearest(set, flat, &one, ids, NULL), SAP_ERROR_ARGUMENT, "queries.dims");
    REFUSED(sap_set_nearest(set, ten, NULL, ids, NULL), SAP_ERROR_ARGUMENT, "search");
    REFUSED(sap_set_nearest(set, ten, &(sap_search){.k = 0}, ids, NULL), SAP_ERROR_ARGUMENT, "search.k");
    REFUSED(sap_set_nearest(set, ten, &one, NULL, NULL), SAP_ERROR_ARGUMENT, "ids");
    REFUSED(sap_set_nearest(set, ten, &(sap_search){.k = 1, .walk = SAP_WALK_STACK}, ids, NULL), SAP_ERROR_UNSUPPORTED,
            "search.walk");
    const struct {
        sap_search search;
        const char* word;
    } told[] = {{{.k = 1, .metric = SAP_METRIC_L1}, "search.metric"},
                {{.k = 1, .p = 2}, "search.p"},
                {{.k = 1, .weights = low}, "search.weights"},
                {{.k = 1, .radii = low}, "search.radii"},
                {{.k = 1, .ks = given}, "search.ks"},
                {{.k = 1, .keep = (const uint8_t*)""}, "search.keep"},
                {{.k = 1, .eps = 1}, "search.eps"}};
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        REFUSED(sap_set_nearest(set, ten, &told[i].search, ids, NULL), SAP_ERROR_ARGUMENT, told[i].word);
    REFUSED(sap_set_radius_count(set, ten, -1, counts), SAP_ERROR_ARGUMENT, "radius");
    REFUSED(sap_set_radius_count(set, ten, 1, NULL), SAP_ERROR_ARGUMENT, "counts");
    REFUSED(sap_set_radius(set, ten, 1, NULL), SAP_ERROR_ARGUMENT, "found");
    REFUSED(sap_set_radius(set, ten, (double)NAN, &found), SAP_ERROR_ARGUMENT, "radius");
    REFUSED(sap_set_describe(set, NULL), SAP_ERROR_ARGUMENT, "info");
    CHECK(!found);
    sap_set_free(NULL);
    sap_set_free(set);
    sap_set_free(wide);
    close_stage(&s);
}

#endif

TEST_MAIN()
