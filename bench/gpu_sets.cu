// Points that come and go: the frames of a vehicle that maps a street. A frame's points come in ahead, what lies behind
// is trimmed away, and some queries are answered near the front. All arrays lie on the device.
#include "gpu.cuh"

enum { LIVE = 5000000, FRESH = 16384, ASKED = 2000, NEIGHBORS = 5, FRAMES = GPU_MOST_REPS + GPU_WARM_UPS };

typedef struct street {
    sap_set* set;
    std::vector<float> points; // of all frames; the street grows by 1 in each
    float *points_there, *distance2;
    int32_t* ids;
    int64_t count; // points that have come
} street;

// What is left after so many points have come.
static void trim(sap_set* set, int64_t come) {
    const double behind = (double)(come - LIVE) / FRESH, lower[3] = {behind, 0, 0}, upper[3] = {INFINITY, 1, 1};
    GPU_SAP(sap_set_keep_box(set, lower, upper, NULL));
}

static sap_points points_of(const float* all, int64_t first, int64_t count) {
    return sap_points{all + 3 * first, count, 3, 0};
}

static void drive(street* s) {
    const sap_search search = {NEIGHBORS};
    GPU_SAP(sap_set_insert(s->set, points_of(s->points_there, s->count, FRESH), NULL, NULL));
    s->count += FRESH;
    trim(s->set, s->count);
    const float* queries = s->points_there + 3 * (s->count - FRESH);
    GPU_SAP(sap_set_nearest(s->set, points_of(queries, 0, ASKED), &search, s->ids, s->distance2));
}

// The CPU's set of the same points answers the same.
static void check(gpu_bench* b, const street* s) {
    const sap_search search = {NEIGHBORS};
    std::vector<int32_t> ids((size_t)ASKED * NEIGHBORS);
    std::vector<float> distance2((size_t)ASKED * NEIGHBORS);
    sap_set* set = NULL;
    GPU_SAP(sap_set_create(b->host, 3, NULL, &set));
    GPU_SAP(sap_set_insert(set, points_of(s->points.data(), 0, s->count), NULL, NULL));
    trim(set, s->count);
    GPU_SAP(sap_set_nearest(set, points_of(s->points.data(), s->count - FRESH, ASKED), &search, ids.data(),
                            distance2.data()));
    gpu_check_same(b, gpu_sampled(s->ids, ASKED * NEIGHBORS), ids, "neighbours in a set");
    gpu_check_same(b, gpu_sampled(s->distance2, ASKED * NEIGHBORS), distance2, "distances in a set");
    sap_set_free(set);
}

void gpu_sets(gpu_bench* b) {
    if (!gpu_wanted(b, "set-frame", LIVE)) return;
    const int64_t all = LIVE + (int64_t)FRAMES * FRESH;
    street s = {};
    uint64_t state = 5;
    s.points.resize((size_t)all * 3);
    for (int64_t i = 0; i < 3 * all; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        s.points[(size_t)i] = i % 3 ? (float)(state >> 40) / 16777216.0f : (float)((double)(i / 3) / FRESH);
    }
    s.points_there = (float*)gpu_upload(s.points.data(), s.points.size() * sizeof(float));
    s.ids = (int32_t*)gpu_memory((size_t)ASKED * NEIGHBORS * sizeof(int32_t));
    s.distance2 = (float*)gpu_memory((size_t)ASKED * NEIGHBORS * sizeof(float));
    GPU_SAP(sap_set_create(b->device, 3, NULL, &s.set));
    GPU_SAP(sap_set_insert(s.set, points_of(s.points_there, 0, LIVE), NULL, NULL));
    s.count = LIVE;
    gpu_row row = gpu_row_of("set-frame", "", LIVE, 3);
    row.k = NEIGHBORS;
    row.queries = ASKED;
    row.floor_ms = gpu_build_floor(b, LIVE, 3);
    gpu_report(b, row,
               gpu_measure_on_host(
                   b, GPU_WARM_UPS, [&] { drive(&s); }, [] {}));
    check(b, &s);
    sap_set_free(s.set);
    for (void* array : {(void*)s.points_there, (void*)s.ids, (void*)s.distance2}) GPU_CUDA(cudaFree(array));
    sap_device_trim(b->device);
}
