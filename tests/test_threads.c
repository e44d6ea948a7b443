// Threads: any number of them gives the same bytes, many may ask one tree and one device at once, and the progress
// callback can stop a call.
#include "allocator.h"
#include "cases.h"
#include "ray_oracle.h"
#include "render_set.h"
#include "sapwood/cloud.h"
#include "sapwood/photons.h"
#include "sapwood/query.h"
#include "test.h"
#include "trees.h"
#include <pthread.h>

enum { HOSTS = 8, POINTS = 6000, QUERIES = 400, ROUNDS = CASE_STEP > 1 ? 3 : 12 };

// What all host threads share, and what they must find.
typedef struct shared {
    const sap_tree* tree;
    cloud queries;
    int32_t k;
    int32_t* ids;
    float* distance2;
    int64_t* counts;
    int64_t boxes[QUERIES]; // points in the box from each query to the next
    int failures;
} shared;

// Checks belong to the thread that runs the test: the others count.
static void expect(shared* s, bool held) {
    if (!held) __atomic_add_fetch(&s->failures, 1, __ATOMIC_RELAXED);
}

static void ask_in_batches(shared* s, int round) {
    size_t answers = QUERIES * (size_t)s->k;
    int32_t* ids = malloc(answers * sizeof *ids);
    float* distance2 = malloc(answers * sizeof *distance2);
    sap_search_stats stats = {0, 0, 0};
    sap_search search = {.k = s->k, .walk = (sap_walk)(round % 3), .stats = &stats};
    expect(s, nearest(s->tree, &s->queries, &search, ids, distance2) == SAP_OK && stats.leaves > 0);
    expect(s, !memcmp(ids, s->ids, answers * sizeof *ids));
    expect(s, !memcmp(distance2, s->distance2, answers * sizeof *distance2));
    free(ids);
    free(distance2);
}

static void ask_singly(shared* s) {
    int32_t ids[64];
    float distance2[64];
    sap_search search = {.k = s->k};
    sap_query* query = NULL;
    expect(s, sap_query_open(s->tree, &search, &query) == SAP_OK);
    for (int64_t q = 0; q < QUERIES; q++) {
        cloud one = cloud_part(&s->queries, q, 1);
        int64_t count = -1;
        expect(s, nearest(s->tree, &one, &search, ids, distance2) == SAP_OK);
        expect(s, !memcmp(ids, s->ids + q * s->k, (size_t)s->k * sizeof *ids));
        expect(s, radius_count(s->tree, &one, 0.1, &count) == SAP_OK && count == s->counts[q]);
        memset(ids, 0, sizeof ids);
        expect(s, query && sap_query_nearest(query, one.coords, ids, distance2) >= 0);
        expect(s, !memcmp(ids, s->ids + q * s->k, (size_t)s->k * sizeof *ids));
    }
    sap_query_close(query);
}

static void ask_by_radius(shared* s) {
    sap_neighbors *found = NULL, *pairs = NULL;
    int64_t counts[QUERIES];
    expect(s, radius_count(s->tree, &s->queries, 0.1, counts) == SAP_OK && !memcmp(counts, s->counts, sizeof counts));
    expect(s, radius_collect(s->tree, &s->queries, 0.1, &found) == SAP_OK && sap_neighbors_sort(found) == SAP_OK);
    for (int64_t q = 0; found && q < QUERIES; q++) expect(s, found->offsets[q + 1] - found->offsets[q] == counts[q]);
    expect(s, sap_pairs(s->tree, 0.01, &pairs) == SAP_OK && pairs->count == POINTS);
    sap_neighbors_free(found);
    sap_neighbors_free(pairs);
}

static void ask_by_box(shared* s) {
    const cloud lower = cloud_part(&s->queries, 0, QUERIES - 1), upper = cloud_part(&s->queries, 1, QUERIES - 1);
    sap_neighbors* found = NULL;
    int64_t counts[QUERIES];
    expect(s, box_count(s->tree, &lower, &upper, counts) == SAP_OK);
    expect(s, box_search(s->tree, &lower, &upper, &found) == SAP_OK);
    for (int64_t q = 0; found && q < QUERIES - 1; q++) {
        expect(s, counts[q] == s->boxes[q] && found->offsets[q + 1] - found->offsets[q] == counts[q]);
    }
    sap_neighbors_free(found);
}

static void ask_for_normals(shared* s) {
    float* normals = malloc(2 * 3 * POINTS * sizeof *normals);
    const sap_normals_options options = {.orient = SAP_ORIENT_CONSISTENT};
    expect(s, sap_cloud_normals(s->tree, &options, normals, NULL) == SAP_OK);
    expect(s, sap_cloud_normals(s->tree, &options, normals + 3 * POINTS, NULL) == SAP_OK);
    expect(s, !memcmp(normals, normals + 3 * POINTS, 3 * POINTS * sizeof *normals));
    free(normals);
    int32_t* labels = malloc(2 * POINTS * sizeof *labels);
    int64_t counts[2] = {-1, -2};
    const sap_clusters_options near = {.radius = 0.03, .fewest = 3};
    for (int i = 0; i < 2; i++)
        expect(s, sap_cloud_clusters(s->tree, &near, labels + i * POINTS, NULL, &counts[i]) == SAP_OK);
    expect(s, counts[0] == counts[1] && !memcmp(labels, labels + POINTS, POINTS * sizeof *labels));
    free(labels);
}

static void make_trees(shared* s) {
    cloud points = cloud_of_family(FAMILY_CLUSTERED, 500, 3, 32, 0, 4);
    sap_tree *tree = NULL, *copy = NULL;
    sap_tree_info info;
    expect(s, build(s->tree->device, &points, NULL, &tree) == SAP_OK && sap_tree_verify(tree) == SAP_OK);
    expect(s, sap_tree_copy(s->tree, s->tree->device, &copy) == SAP_OK);
    expect(s, sap_tree_describe(copy, &info) == SAP_OK && info.count == POINTS);
    expect(s, rebuild(tree, &points) == SAP_OK);
    sap_tree_free(tree);
    sap_tree_free(copy);
    sap_device_trim(s->tree->device);
    cloud_free(&points);
}

static void* host(void* shared_state) {
    shared* s = shared_state;
    for (int round = 0; round < ROUNDS; round++) {
        ask_in_batches(s, round);
        if (round % 3 == 0) ask_singly(s);
        if (round % 3 == 1) ask_by_radius(s);
        if (round % 3 == 1) ask_by_box(s);
        if (round % 3 == 2) make_trees(s);
        if (round % 3 == 2) ask_for_normals(s);
    }
    return NULL;
}

static void many_hosts(int32_t threads, int32_t k) {
    watch w;
    memset(&w, 0, sizeof w);
    sap_device_options options = watched(&w);
    options.threads = threads;
    sap_device* device = NULL;
    sap_tree* tree = NULL;
    cloud points = cloud_of_family(FAMILY_UNIFORM, POINTS, 3, 32, 0, 3);
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    CHECK_STATUS(build(device, &points, NULL, &tree), SAP_OK);
    shared s = {.tree = tree, .queries = case_queries(&points, QUERIES, 5), .k = k};
    s.ids = malloc((size_t)(QUERIES * k) * sizeof *s.ids);
    s.distance2 = malloc((size_t)(QUERIES * k) * sizeof *s.distance2);
    s.counts = malloc(QUERIES * sizeof *s.counts);
    for (int64_t q = 0; q + 1 < QUERIES; q++)
        s.boxes[q] = oracle_box_search(&points, &s.queries, q, &s.queries, q + 1, NULL, NULL);
    oracle_rules all = {.limit2 = INFINITY}, near_by = {.limit2 = oracle_limit2(0.1, 32)};
    for (int64_t q = 0; q < QUERIES; q++) {
        oracle_nearest(&points, &s.queries, q, k, &all, s.ids + q * k, s.distance2 + q * k);
        s.counts[q] = oracle_radius(&points, &s.queries, q, &near_by, NULL, NULL);
    }
    pthread_t hosts[HOSTS];
    int started = 0;
    while (started < HOSTS && !pthread_create(&hosts[started], NULL, host, &s)) started++;
    for (int i = 0; i < started; i++) pthread_join(hosts[i], NULL);
    CHECK_EQUAL(started, HOSTS);
    CHECK_EQUAL(s.failures, 0);
    CHECK_STATUS(sap_tree_verify(tree), SAP_OK);
    sap_tree_free(tree);
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
    CHECK_EQUAL(w.wrong, 0);
    CHECK_EQUAL(w.log_calls, 0);
    free(s.ids);
    free(s.distance2);
    free(s.counts);
    cloud_free(&s.queries);
    cloud_free(&points);
}

TEST(many_hosts_one_thread_each) { many_hosts(1, 5); }
TEST(many_hosts_two_threads_each) { many_hosts(2, 40); }

// Builds with several thread counts; all arrays must be those of one thread.
static void build_with_threads(const cloud* points, const sap_tree_options* options) {
    static const int32_t counts[] = {1, 2, 3, 4, 7};
    sap_tree* trees[5] = {NULL, NULL, NULL, NULL, NULL};
    sap_device* device[5] = {NULL, NULL, NULL, NULL, NULL};
    for (int i = 0; i < 5; i++) {
        sap_device_options threads = {.processor = SAP_CPU, .threads = counts[i]};
        CHECK_STATUS(sap_device_open(&threads, &device[i]), SAP_OK);
        CHECK_STATUS(build(device[i], points, options, &trees[i]), SAP_OK);
        if (trees[0] && trees[i]) CHECK(trees_equal(trees[0], trees[i]));
    }
    if (trees[0]) CHECK_STATUS(sap_tree_verify(trees[0]), SAP_OK);
    for (int i = 0; i < 5; i++) {
        sap_tree_free(trees[i]);
        sap_device_close(device[i]);
    }
}

TEST(any_number_of_threads_builds_the_same_bytes) {
    static const int64_t sizes[] = {100, 5000, 70000, 300000};
    for (int i = 0; i < FAMILY_COUNT * 4; i++) {
        int64_t size = sizes[i % 4];
        if (i % CASE_STEP || (size > 70000 && i % 12 != 3)) continue;
        cloud points = cloud_of_family((family)(i / 4), size, 1 + i % 4, i % 5 == 4 ? 64 : 32, 0, (uint64_t)i);
        for (int split = 0; split < 2; split++) {
            sap_tree_options options = {.split = (sap_split)split, .drop_duplicates = i % 6 == 5};
            NOTE("%s n %d split %d", family_name((family)(i / 4)), (int)size, split);
            build_with_threads(&points, &options);
        }
        cloud_free(&points);
    }
}

// The whole search, large enough to be shared among threads, answers the same for any number of them.
TEST(any_number_of_threads_answers_the_same) {
    enum { COUNT = 40000, K = 3 };
    cloud points = cloud_of_family(FAMILY_SHELL, COUNT, 3, 32, 0, 8);
    int32_t *first = malloc(COUNT * K * sizeof *first), *ids = malloc(COUNT * K * sizeof *ids);
    sap_neighbors *rows = NULL, *found = NULL;
    sap_device* opened[5] = {NULL, NULL, NULL, NULL, NULL};
    for (int32_t threads = 1; threads <= 4; threads++) {
        sap_device_options options = {.processor = SAP_CPU, .threads = threads};
        sap_tree* tree = NULL;
        sap_search search = {.k = K};
        NOTE("threads %d", threads);
        CHECK_STATUS(sap_device_open(&options, &opened[threads]), SAP_OK);
        CHECK_STATUS(build(opened[threads], &points, NULL, &tree), SAP_OK);
        CHECK_STATUS(nearest(tree, &points, &search, threads == 1 ? first : ids, NULL), SAP_OK);
        CHECK(threads == 1 || !memcmp(first, ids, COUNT * K * sizeof *ids));
        CHECK_STATUS(radius_collect(tree, &points, 0.01, threads == 1 ? &rows : &found), SAP_OK);
        if (found && rows) {
            size_t all = (size_t)rows->offsets[COUNT];
            CHECK(!memcmp(rows->offsets, found->offsets, (COUNT + 1) * sizeof(int64_t)));
            CHECK(!memcmp(rows->ids, found->ids, all * sizeof(int32_t)));
        }
        sap_neighbors_free(found);
        found = NULL;
        sap_tree_free(tree);
    }
    sap_neighbors_free(rows);
    for (int32_t threads = 1; threads <= 4; threads++) sap_device_close(opened[threads]);
    free(first);
    free(ids);
    cloud_free(&points);
}

typedef struct progress {
    int calls, stop_at; // stop_at 0: never
    double last;
    bool orderly;
} progress;

static bool report(void* user, double done) {
    progress* p = user;
    if (done < p->last || done < 0 || done > 1) p->orderly = false;
    p->last = done;
    return ++p->calls != p->stop_at;
}

typedef sap_status (*long_call)(sap_device* device, const cloud* points, sap_tree* tree);

static sap_status long_build(sap_device* device, const cloud* points, sap_tree* tree) {
    (void)tree;
    sap_tree* built = NULL;
    sap_status status = build(device, points, NULL, &built);
    CHECK((status == SAP_OK) == (built != NULL));
    sap_tree_free(built);
    return status;
}

static sap_status long_search(sap_device* device, const cloud* points, sap_tree* tree) {
    (void)device;
    int32_t* ids = malloc((size_t)points->count * sizeof *ids * 2);
    sap_search search = {.k = 2};
    sap_status status = nearest(tree, points, &search, ids, NULL);
    free(ids);
    return status;
}

static sap_status long_collect(sap_device* device, const cloud* points, sap_tree* tree) {
    (void)device;
    sap_neighbors* found = NULL;
    sap_status status = radius_collect(tree, points, 0.001, &found);
    CHECK((status == SAP_OK) == (found != NULL));
    sap_neighbors_free(found);
    return status;
}

static sap_status long_count(sap_device* device, const cloud* points, sap_tree* tree) {
    (void)device;
    int64_t* counts = malloc((size_t)points->count * sizeof *counts);
    sap_status status = radius_count(tree, points, 0.001, counts);
    free(counts);
    return status;
}

static sap_status long_boxes(sap_device* device, const cloud* points, sap_tree* tree) {
    (void)device;
    int64_t* counts = malloc((size_t)points->count * sizeof *counts);
    sap_status status = box_count(tree, points, points, counts);
    free(counts);
    return status;
}

static sap_status long_box_search(sap_device* device, const cloud* points, sap_tree* tree) {
    (void)device;
    sap_neighbors* found = NULL;
    sap_status status = box_search(tree, points, points, &found);
    CHECK((status == SAP_OK) == (found != NULL));
    sap_neighbors_free(found);
    return status;
}

// Whatever report asks a call to stop, it stops with that status, nothing leaks, and the next call works.
TEST(progress_and_cancelling) {
    static const long_call calls[] = {long_build, long_search, long_collect, long_count, long_boxes, long_box_search};
    enum { CALLS = sizeof calls / sizeof *calls };
    cloud points = cloud_of_family(FAMILY_UNIFORM, 100000, 3, 32, 0, 6);
    for (int i = 0; i < 2 * CALLS; i++) {
        watch w;
        memset(&w, 0, sizeof w);
        progress p = {0, 0, 0, true};
        sap_device_options options = watched(&w);
        options.threads = i / CALLS ? 3 : 1;
        options.progress = report;
        options.progress_user = &p;
        sap_device* device = NULL;
        sap_tree* tree = NULL;
        CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
        CHECK_STATUS(build(device, &points, NULL, &tree), SAP_OK);
        p = (progress){0, 0, 0, true};
        NOTE("call %d threads %d", i % CALLS, options.threads);
        CHECK_STATUS(calls[i % CALLS](device, &points, tree), SAP_OK);
        CHECK(p.orderly && p.calls <= 500);
        int reports = p.calls;
        CHECK(reports > 0 || i / CALLS); // with several threads the calling one may have had nothing to do
        for (int stop = 1; stop <= reports && stop < 40; stop += 1 + stop / 3) {
            p = (progress){0, stop, 0, true};
            sap_status status = calls[i % CALLS](device, &points, tree);
            CHECK_STATUS(status, p.calls >= stop ? SAP_ERROR_CANCELLED : SAP_OK);
            CHECK(p.calls <= stop);
        }
        p = (progress){0, 0, 0, true};
        CHECK_STATUS(calls[i % CALLS](device, &points, tree), SAP_OK);
        sap_tree_free(tree);
        sap_device_close(device);
        CHECK_EQUAL(w.blocks, 0);
    }
    cloud_free(&points);
}

// The host is asked in the midst of what takes long: while points are loaded, and while the top nodes are split.
TEST(large_builds_stop_soon) {
    cloud points = cloud_of_family(FAMILY_UNIFORM, 4500000, 1, 32, 0, 6);
    for (int threads = 1; threads <= 2; threads++) {
        watch w;
        memset(&w, 0, sizeof w);
        progress p = {0, 0, 0, true};
        sap_device_options options = watched(&w);
        options.threads = threads;
        options.progress = report;
        options.progress_user = &p;
        sap_device* device = NULL;
        sap_tree* tree = NULL;
        CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
        CHECK_STATUS(build(device, &points, NULL, &tree), SAP_OK);
        sap_tree_free(tree);
        NOTE("threads %d reports %d", threads, p.calls);
        CHECK(p.orderly && p.calls <= 500);
        for (int stop = 1; stop < 100; stop += 1 + stop) {
            tree = NULL;
            p = (progress){0, stop, 0, true};
            const sap_status status = build(device, &points, NULL, &tree);
            CHECK_STATUS(status, p.calls >= stop ? SAP_ERROR_CANCELLED : SAP_OK);
            CHECK(p.calls <= stop && (tree != NULL) == (p.calls < stop));
            // With one thread the first answer comes before any node is split.
            CHECK(threads > 1 || stop > 1 || (p.calls == 1 && p.last == 0));
            sap_tree_free(tree);
        }
        sap_device_close(device);
        CHECK_EQUAL(w.blocks, 0);
    }
    cloud_free(&points);
}

// A rebuild that was stopped leaves an empty tree that is as good as any.
TEST(a_cancelled_rebuild_leaves_an_empty_tree) {
    cloud points = cloud_of_family(FAMILY_UNIFORM, 100000, 3, 32, 0, 6);
    progress p = {0, 0, 0, true};
    sap_device_options options = {.processor = SAP_CPU, .threads = 1, .progress = report, .progress_user = &p};
    sap_device* device = NULL;
    sap_tree* tree = NULL;
    sap_tree_info info;
    sap_search search = {.k = 1};
    int32_t id = 7;
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    CHECK_STATUS(build(device, &points, NULL, &tree), SAP_OK);
    for (int stop = 1; stop < 4; stop++) {
        cloud one = cloud_part(&points, 0, 1);
        p = (progress){0, stop, 0, true};
        sap_status status = rebuild(tree, &points);
        CHECK_STATUS(status, p.calls == stop ? SAP_ERROR_CANCELLED : SAP_OK);
        if (status == SAP_OK) break;
        p = (progress){0, 0, 0, true};
        CHECK_STATUS(sap_tree_verify(tree), SAP_OK);
        CHECK_STATUS(sap_tree_describe(tree, &info), SAP_OK);
        CHECK_EQUAL(info.count, 0);
        CHECK_STATUS(nearest(tree, &one, &search, &id, NULL), SAP_OK);
        CHECK_EQUAL(id, -1);
        CHECK_STATUS(rebuild(tree, &points), SAP_OK);
        CHECK_STATUS(nearest(tree, &one, &search, &id, NULL), SAP_OK);
        CHECK_EQUAL(id, 0);
    }
    sap_tree_free(tree);
    sap_device_close(device);
    cloud_free(&points);
}

// What hosts with a prepared search each ask of one mesh, and what they must find.
typedef struct shared_mesh {
    const sap_mesh_tree* tree;
    sap_ray rays[QUERIES];
    sap_hit hits[QUERIES];
    sap_closest closest[QUERIES];
    int failures;
} shared_mesh;

static void* ask_mesh(void* shared_state) {
    shared_mesh* s = shared_state;
    sap_mesh_query* query = NULL;
    int wrong = sap_mesh_query_open(s->tree, NULL, &query) != SAP_OK;
    for (int i = 0; query && i < QUERIES; i++) {
        sap_hit hit;
        sap_closest closest;
        const int found = s->hits[i].triangle >= 0;
        wrong += sap_mesh_query_trace(query, s->rays + i, &hit) != found || memcmp(&hit, s->hits + i, sizeof hit) != 0;
        wrong += sap_mesh_query_occluded(query, s->rays + i) != found;
        wrong += sap_mesh_query_closest(query, s->rays[i].origin, &closest) != (s->closest[i].triangle >= 0) ||
                 memcmp(&closest.point[0], &s->closest[i].point[0], sizeof closest) != 0;
    }
    sap_mesh_query_close(query);
    __atomic_add_fetch(&s->failures, wrong, __ATOMIC_RELAXED);
    return NULL;
}

TEST(prepared_searches_of_a_mesh) {
    static shared_mesh s;
    const int stride = sizeof(sap_ray) / sizeof(float);
    sap_device* device = NULL;
    scene_mesh mesh = ray_mesh_of(RAY_MESH_TORUS, 700);
    float lower[3], upper[3];
    uint64_t state = 5;
    pthread_t hosts[HOSTS];
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &device), SAP_OK);
    s.tree = ray_tree(device, &mesh.mesh, SAP_QUALITY_HIGH);
    oracle_box(&mesh.mesh, lower, upper);
    for (int i = 0; i < QUERIES; i++) s.rays[i] = oracle_ray(&mesh.mesh, lower, upper, i, &state);
    CHECK_STATUS(sap_trace(s.tree, s.rays, QUERIES, s.hits), SAP_OK);
    CHECK_STATUS(sap_closest_point(s.tree, (sap_points){s.rays[0].origin, QUERIES, 3, stride}, s.closest), SAP_OK);
    for (int i = 0; i < HOSTS; i++) CHECK(pthread_create(&hosts[i], NULL, ask_mesh, &s) == 0);
    for (int i = 0; i < HOSTS; i++) pthread_join(hosts[i], NULL);
    CHECK_EQUAL(s.failures, 0);
    sap_mesh_tree_free((sap_mesh_tree*)(uintptr_t)s.tree);
    scene_mesh_free(&mesh);
    sap_device_close(device);
}

// ---- Photons

enum { LIGHTS = 300 };

typedef struct shared_photons {
    sap_scene scene;
    const sap_photons* map; // made by one thread
    sap_photons_info info;
    float points[LIGHTS][3], normals[LIGHTS][3], light[LIGHTS][3];
    int failures;
} shared_photons;

static const sap_photon_options few_photons = {.count = 4000, .seed = 2};

static sap_status look_up(const sap_photons* map, const shared_photons* s, float light[LIGHTS][3]) {
    const sap_photon_search search = {.k = 30};
    return sap_photons_estimate(map, (sap_points){s->points[0], LIGHTS, 3, 0}, s->normals[0], &search, light[0]);
}

static void* send_and_look(void* context) {
    shared_photons* s = context;
    sap_photons* map = NULL;
    sap_photons_info info = {.count = -1};
    float light[2][LIGHTS][3];
    bool right = sap_photons_trace(&s->scene, &few_photons, &map) == SAP_OK &&
                 sap_photons_describe(map, &info) == SAP_OK && info.count == s->info.count &&
                 !memcmp(info.photons, s->info.photons, (size_t)info.count * sizeof *info.photons);
    right = right && look_up(map, s, light[0]) == SAP_OK && look_up(s->map, s, light[1]) == SAP_OK &&
            !memcmp(light[0], s->light, sizeof s->light) && !memcmp(light[1], s->light, sizeof s->light);
    sap_photons_free(map);
    if (!right) __atomic_add_fetch(&s->failures, 1, __ATOMIC_RELAXED);
    return NULL;
}

// Threads that send photons through one scene, each with helpers, and look up theirs and those of a shared map.
TEST(photons_of_many_hosts) {
    static shared_photons s;
    render_set set;
    sap_device* opened[2] = {NULL, NULL};
    sap_mesh_tree* trees[2] = {NULL, NULL};
    sap_photons* map = NULL;
    pthread_t hosts[4];
    render_set_make(&set);
    for (int i = 0; i < 2; i++) {
        const sap_device_options options = {.processor = SAP_CPU, .threads = i ? 3 : 1};
        CHECK_STATUS(sap_device_open(&options, &opened[i]), SAP_OK);
        CHECK_STATUS(sap_mesh_tree_build(opened[i], set.mesh.mesh, NULL, &trees[i]), SAP_OK);
    }
    s.scene = (sap_scene){.tree = trees[0], .file = &set.file, .lights = render_lamps, .light_count = 2};
    CHECK_STATUS(sap_photons_trace(&s.scene, &few_photons, &map), SAP_OK);
    CHECK_STATUS(sap_photons_describe(map, &s.info), SAP_OK);
    CHECK(s.info.count > LIGHTS);
    for (int i = 0; i < LIGHTS; i++) {
        memcpy(s.points[i], s.info.photons[i].position, sizeof s.points[i]);
        memcpy(s.normals[i], s.info.photons[i].normal, sizeof s.normals[i]);
    }
    CHECK_STATUS(look_up(map, &s, s.light), SAP_OK);
    s.map = map;
    s.scene.tree = trees[1];
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&hosts[i], NULL, send_and_look, &s) == 0);
    for (int i = 0; i < 4; i++) pthread_join(hosts[i], NULL);
    CHECK_EQUAL(s.failures, 0);
    sap_photons_free(map);
    for (int i = 0; i < 2; i++) {
        sap_mesh_tree_free(trees[i]);
        sap_device_close(opened[i]);
    }
    scene_mesh_free(&set.mesh);
}

TEST_MAIN()
