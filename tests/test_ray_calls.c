// The calls about rays and meshes as such: bad arguments, refused memory, progress, empty meshes.
#include "allocator.h"
#include "ray_meshes.h"
#include "test.h"

enum { RAYS = 5000, LIMIT = 3 };

typedef struct scene {
    watch w;
    sap_device* device;
    scene_mesh mesh;
    sap_mesh_tree* tree;
    sap_ray* rays;
    float* points;
    void* answers; // room for any
    int32_t* numbers;
    int reports, stop_at;
} scene;

static bool report(void* user, double done) {
    scene* s = user;
    CHECK(done >= 0 && done <= 1);
    return ++s->reports != s->stop_at;
}

static void open_scene(scene* s, ray_mesh kind, int32_t threads) {
    memset(s, 0, sizeof *s);
    sap_device_options options = watched(&s->w);
    options.threads = threads;
    options.progress = report;
    options.progress_user = s;
    CHECK_STATUS(sap_device_open(&options, &s->device), SAP_OK);
    s->mesh = ray_mesh_of(kind, 300);
    s->tree = ray_tree(s->device, &s->mesh.mesh, SAP_QUALITY_FAST);
    s->rays = malloc(RAYS * sizeof *s->rays);
    s->points = malloc(RAYS * 3 * sizeof *s->points);
    s->answers = malloc(RAYS * sizeof(sap_closest) * LIMIT);
    s->numbers = malloc(RAYS * sizeof *s->numbers);
    uint64_t state = 4;
    for (int i = 0; i < RAYS; i++) {
        s->rays[i] = (sap_ray){{0, 0, 0}, 0, {0, 0, 0}, INFINITY};
        for (int k = 0; k < 3; k++) {
            s->points[3 * i + k] = s->rays[i].origin[k] = (float)random_unit(&state) - 0.5f;
            s->rays[i].direction[k] = (float)random_unit(&state) - 0.5f;
        }
    }
    s->reports = 0;
}

static void close_scene(scene* s) {
    sap_mesh_tree_free(s->tree);
    sap_device_close(s->device);
    scene_mesh_free(&s->mesh);
    free(s->rays);
    free(s->points);
    free(s->answers);
    free(s->numbers);
    CHECK_EQUAL(s->w.blocks, 0);
    CHECK_EQUAL(s->w.wrong, 0);
}

// All calls, by number, about the first `count` rays or points.
enum { CALLS = 6 };
static sap_status call(scene* s, int number, int64_t count) {
    switch (number) {
    case 0: return sap_trace(s->tree, s->rays, count, s->answers);
    case 1: return sap_occluded(s->tree, s->rays, count, s->answers);
    case 2: return sap_trace_all(s->tree, s->rays, count, LIMIT, s->answers, s->numbers);
    case 3: return sap_trace_visits(s->tree, s->rays, count, s->answers, s->numbers);
    case 4: return sap_closest_point(s->tree, (sap_points){s->points, count, 3, 0}, s->answers);
    default: return sap_inside(s->tree, (sap_points){s->points, count, 3, 0}, s->answers);
    }
}

static void refused(scene* s, sap_status got, sap_status expected, const char* word, int line) {
    NOTE("line %d: \"%s\"", line, s->w.sentence);
    CHECK_STATUS(got, expected);
    CHECK_EQUAL(s->w.log_calls, 1);
    CHECK(strstr(s->w.sentence, word) != NULL);
    s->w.log_calls = 0;
}

#define REFUSED(call, status, word) refused(&s, call, status, word, __LINE__)

TEST(bad_arguments_are_refused) {
    scene s;
    sap_hit hit;
    sap_closest closest;
    uint8_t flag;
    int32_t number;
    open_scene(&s, RAY_MESH_CUBE, 1);
    CHECK_STATUS(sap_trace(NULL, s.rays, 1, &hit), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_occluded(NULL, s.rays, 1, &flag), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_trace_all(NULL, s.rays, 1, 1, &hit, &number), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_trace_visits(NULL, s.rays, 1, &hit, &number), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_closest_point(NULL, (sap_points){s.points, 1, 3, 0}, &closest), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_inside(NULL, (sap_points){s.points, 1, 3, 0}, &flag), SAP_ERROR_ARGUMENT);
    REFUSED(sap_trace(s.tree, NULL, 1, &hit), SAP_ERROR_ARGUMENT, "rays");
    REFUSED(sap_trace(s.tree, s.rays, 1, NULL), SAP_ERROR_ARGUMENT, "hits");
    REFUSED(sap_trace(s.tree, s.rays, -1, &hit), SAP_ERROR_ARGUMENT, "count");
    REFUSED(sap_trace(s.tree, s.rays, INT64_MAX / 2, &hit), SAP_ERROR_RANGE, "count");
    REFUSED(sap_occluded(s.tree, NULL, 1, &flag), SAP_ERROR_ARGUMENT, "rays");
    REFUSED(sap_occluded(s.tree, s.rays, 1, NULL), SAP_ERROR_ARGUMENT, "occluded");
    REFUSED(sap_trace_all(s.tree, s.rays, 1, 0, &hit, &number), SAP_ERROR_ARGUMENT, "limit");
    REFUSED(sap_trace_all(s.tree, NULL, 1, 1, &hit, &number), SAP_ERROR_ARGUMENT, "rays");
    REFUSED(sap_trace_all(s.tree, s.rays, 1, 1, NULL, &number), SAP_ERROR_ARGUMENT, "hits");
    REFUSED(sap_trace_all(s.tree, s.rays, INT64_MAX / 4, INT32_MAX, &hit, NULL), SAP_ERROR_RANGE, "count");
    REFUSED(sap_trace_visits(s.tree, NULL, 1, &hit, &number), SAP_ERROR_ARGUMENT, "rays");
    REFUSED(sap_trace_visits(s.tree, s.rays, 1, NULL, &number), SAP_ERROR_ARGUMENT, "hits");
    REFUSED(sap_trace_visits(s.tree, s.rays, 1, &hit, NULL), SAP_ERROR_ARGUMENT, "visits");
    const sap_points flat = {s.points, 1, 2, 0}, narrow = {s.points, 1, 3, 2}, negative = {s.points, -1, 3, 0};
    const sap_points many = {s.points, (int64_t)1 << 31, 3, 0};
    REFUSED(sap_closest_point(s.tree, flat, &closest), SAP_ERROR_ARGUMENT, "points.dims");
    REFUSED(sap_closest_point(s.tree, narrow, &closest), SAP_ERROR_ARGUMENT, "points.stride");
    REFUSED(sap_closest_point(s.tree, negative, &closest), SAP_ERROR_ARGUMENT, "points.count");
    REFUSED(sap_closest_point(s.tree, many, &closest), SAP_ERROR_RANGE, "points.count");
    REFUSED(sap_inside(s.tree, flat, &flag), SAP_ERROR_ARGUMENT, "points.dims");
    REFUSED(sap_inside(s.tree, narrow, &flag), SAP_ERROR_ARGUMENT, "points.stride");
    REFUSED(sap_inside(s.tree, negative, &flag), SAP_ERROR_ARGUMENT, "points.count");
    REFUSED(sap_inside(s.tree, many, &flag), SAP_ERROR_RANGE, "points.count");
    REFUSED(sap_closest_point(s.tree, (sap_points){NULL, 1, 3, 0}, &closest), SAP_ERROR_ARGUMENT, "points");
    REFUSED(sap_closest_point(s.tree, (sap_points){s.points, 1, 3, 0}, NULL), SAP_ERROR_ARGUMENT, "closest");
    REFUSED(sap_inside(s.tree, (sap_points){NULL, 1, 3, 0}, &flag), SAP_ERROR_ARGUMENT, "points");
    REFUSED(sap_inside(s.tree, (sap_points){s.points, 1, 3, 0}, NULL), SAP_ERROR_ARGUMENT, "inside");
    close_scene(&s);
}

TEST(nothing_asked_is_nothing_answered) {
    scene s;
    sap_hit hit;
    int32_t number;
    open_scene(&s, RAY_MESH_CUBE, 1);
    CHECK_STATUS(sap_trace(s.tree, NULL, 0, NULL), SAP_OK);
    CHECK_STATUS(sap_occluded(s.tree, NULL, 0, NULL), SAP_OK);
    CHECK_STATUS(sap_trace_all(s.tree, NULL, 0, 1, NULL, NULL), SAP_OK);
    CHECK_STATUS(sap_trace_visits(s.tree, NULL, 0, NULL, NULL), SAP_OK);
    CHECK_STATUS(sap_trace_visits(s.tree, s.rays, 0, &hit, &number), SAP_OK);
    CHECK_STATUS(sap_closest_point(s.tree, (sap_points){NULL, 0, 3, 0}, NULL), SAP_OK);
    CHECK_STATUS(sap_inside(s.tree, (sap_points){NULL, 0, 3, 0}, NULL), SAP_OK);
    close_scene(&s);
}

TEST(empty_meshes_are_missed) {
    scene s;
    open_scene(&s, RAY_MESH_NONE, 2);
    const sap_hit* hits = s.answers;
    const sap_closest* closest = s.answers;
    const uint8_t* flags = s.answers;
    for (int64_t count = 1; count <= RAYS; count = count * 7 + 1) {
        CHECK_STATUS(call(&s, 0, count), SAP_OK);
        for (int64_t i = 0; i < count; i++) CHECK(hits[i].triangle == -1 && isinf(hits[i].t));
        CHECK_STATUS(call(&s, 2, count), SAP_OK);
        for (int64_t i = 0; i < count; i++) CHECK(hits[i * LIMIT].triangle == -1 && s.numbers[i] == 0);
        CHECK_STATUS(call(&s, 4, count), SAP_OK);
        for (int64_t i = 0; i < count; i++) CHECK(closest[i].triangle == -1 && isinf(closest[i].distance2));
        for (int number = 1; number < CALLS; number += 4) {
            CHECK_STATUS(call(&s, number, count), SAP_OK);
            for (int64_t i = 0; i < count; i++) CHECK(!flags[i]);
        }
    }
    close_scene(&s);
}

TEST(refused_memory_is_reported_and_leaves_answers_alone) {
    scene s;
    open_scene(&s, RAY_MESH_TORUS, 2);
    int64_t refusals = 0;
    for (int number = 0; number < CALLS; number++)
        for (int64_t n = 1; n < 100; n++) {
            NOTE("call %d, request %d", number, (int)n);
            sap_device_trim(s.device);
            memset(s.answers, 0x11, RAYS);
            s.w.requests = 0;
            s.w.fail_from = n;
            s.w.fail_all_after = true;
            s.w.log_calls = 0;
            sap_status status = call(&s, number, RAYS);
            bool reached = s.w.requests >= n;
            s.w.fail_from = 0;
            CHECK_STATUS(call(&s, number, 1), SAP_OK);
            if (!reached) {
                CHECK_STATUS(status, SAP_OK);
                break;
            }
            refusals++;
            CHECK_STATUS(status, SAP_ERROR_MEMORY);
            CHECK_EQUAL(s.w.log_calls, 1);
            CHECK(((unsigned char*)s.answers)[RAYS - 1] == 0x11);
        }
    CHECK(refusals >= 3);
    close_scene(&s);
}

TEST(few_rays_allocate_nothing) {
    scene s;
    open_scene(&s, RAY_MESH_TORUS, 2);
    sap_device_trim(s.device);
    int64_t requests = s.w.requests;
    for (int number = 0; number < CALLS; number++)
        for (int64_t count = 1; count <= 200; count = count * 2 + 1) CHECK_STATUS(call(&s, number, count), SAP_OK);
    CHECK_EQUAL(s.w.requests, requests);
    CHECK_EQUAL(s.reports, 0);
    close_scene(&s);
}

TEST(progress_and_cancelling) {
    for (int32_t threads = 1; threads <= 2; threads++) {
        scene s;
        open_scene(&s, RAY_MESH_TORUS, threads);
        for (int number = 0; number < CALLS; number++) {
            NOTE("call %d, %d threads", number, threads);
            s.reports = s.stop_at = 0;
            CHECK_STATUS(call(&s, number, RAYS), SAP_OK);
            CHECK(s.reports > 0);
            s.reports = 0;
            s.stop_at = 1;
            CHECK_STATUS(call(&s, number, RAYS), SAP_ERROR_CANCELLED);
            CHECK_EQUAL(s.reports, 1);
        }
        s.stop_at = 0;
        close_scene(&s);
    }
}

TEST_MAIN()
