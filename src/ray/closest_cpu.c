// Nearest points on a mesh on the CPU: threads take parts of a call. In a part, points that lie near each other follow
// each other, so that they find the tree's nodes and triangles in the caches, each answer limits the next search, and some
// are searched for at once.
#include "base/team.h"
#include "device/cpu.h"
#include "device/progress.h"
#include "ray/query.h"
#include "ray/walk_cpu.h"
#include <float.h>

enum {
    PART_MOST = 1 << 16, // most points that a thread orders at once
    PART_LEAST = 1 << 8,
    PARTS_PER_THREAD = 4,
    FEW = 32,         // a thread answers at most so many points as they come
    LOCAL_KEYS = 256, // calls with at most so many points allocate nothing
    CELL_BITS = 8,    // an axis: sap_ray_keys_sort sorts by 27 bits
    LANES_MOST = 16,  // places that are searched together
    APART = 32        // sides of usual triangles that these may lie apart
};

#if defined(__EMSCRIPTEN__) // where code is downloaded, each point walks alone
enum { PACKETS = 0 };
#else
enum { PACKETS = 1 };
#endif

typedef struct closest_call {
    const sap_mesh_tree* tree;
    const sap_closest_job* job;
    const sap_closest_kernels* kernels;
    float magnitude; // the largest coordinate of the tree's box
    float apart2;    // the square of how far apart places may lie that are searched together
    int64_t part;    // points in a part
    int32_t threads; // at most as many as parts: each has memory for its keys
    sap_scratch keys;
    sap_progress_state progress;
} closest_call;

static const float* point_at(const closest_call* call, int64_t i) {
    const float* points = call->job->points.coords;
    return points + call->job->points.stride * i;
}

static float limit_by(const closest_call* call, sap_vector query, const float* known) {
    const float limit2 = sap_known_limit2(query, sap_vector_of(known), call->magnitude);
    return limit2 < FLT_MAX ? limit2 : FLT_MAX;
}

// How far point i has to look. `last`: an answer that was given before, or NULL.
static float limit_of(const closest_call* call, int64_t i, const sap_closest* last) {
    const sap_vector query = sap_vector_of(point_at(call, i));
    const float* known = call->job->known;
    const float limit2 = known ? limit_by(call, query, known + 3 * i) : FLT_MAX;
    return limit2 < FLT_MAX || !last || last->triangle < 0 ? limit2 : limit_by(call, query, last->point);
}

// Answers point i. `last`: an answer that was given before, or NULL.
static const sap_closest* answer(const closest_call* call, int64_t i, const sap_closest* last) {
    const float* at = point_at(call, i);
    sap_closest* closest = &call->job->closest[i];
    const float limit2 = limit_of(call, i, last);
    if (!call->kernels->closest(call->tree, at, limit2, closest) && limit2 < FLT_MAX)
        call->kernels->closest(call->tree, at, FLT_MAX, closest);
    return closest;
}

// Answers as many of the points as lie near each other, for what the mesh has there or for how far away it is: else each would
// find nothing where others look. Returns how many.
static int32_t answer_some(const closest_call* call, int64_t from, const sap_ray_key* keys, int32_t count,
                           const sap_closest** last) {
    float points[3 * LANES_MOST], limits[LANES_MOST], lower[3], upper[3];
    sap_closest found[LANES_MOST];
    int32_t some = 0;
    for (; some < count; some++) {
        const float* at = point_at(call, from + keys[some].ray);
        float apart2 = 0;
        limits[some] = limit_of(call, from + keys[some].ray, *last);
        for (int k = 0; k < 3; k++) {
            const float low = some == 0 || at[k] < lower[k] ? at[k] : lower[k];
            const float high = some == 0 || at[k] > upper[k] ? at[k] : upper[k];
            apart2 += (high - low) * (high - low);
        }
        if (!(limits[some] < FLT_MAX) || !(apart2 <= call->apart2 || apart2 <= limits[some])) break;
        for (int k = 0; k < 3; k++) {
            points[3 * some + k] = at[k];
            lower[k] = some == 0 || at[k] < lower[k] ? at[k] : lower[k];
            upper[k] = some == 0 || at[k] > upper[k] ? at[k] : upper[k];
        }
    }
    if (some < 2) {
        *last = answer(call, from + keys[0].ray, *last);
        return 1;
    }
    call->kernels->packet(call->tree, points, limits, some, found);
    for (int32_t i = 0; i < some; i++) {
        sap_closest* closest = &call->job->closest[from + keys[i].ray];
        *closest = found[i];
        if (closest->triangle < 0) call->kernels->closest(call->tree, points + (ptrdiff_t)3 * i, FLT_MAX, closest);
        *last = closest;
    }
    return some;
}

// Bit i goes to bit 3*i.
static uint32_t spread(uint32_t x) {
    x = (x | x << 8) & 0x00f00f;
    x = (x | x << 4) & 0x0c30c3;
    return (x | x << 2) & 0x249249;
}

// The Morton code of a point's cell in the tree's box; coordinates that are no numbers lie at its lower end.
static uint32_t order_of(const sap_mesh_tree_shape* s, const float* at) {
    const float cells = (float)(1 << CELL_BITS);
    uint32_t order = 0;
    for (int k = 0; k < 3; k++) {
        const float side = s->upper[k] - s->lower[k], cell = side > 0 ? (at[k] - s->lower[k]) / side * cells : 0;
        order |= spread(cell > 0 ? (uint32_t)(cell < cells - 1 ? cell : cells - 1) : 0) << k;
    }
    return order;
}

// `keys` and `other` have room for the part's points.
static void answer_ordered(const closest_call* call, int64_t from, int64_t to, sap_ray_key* keys, sap_ray_key* other) {
    const sap_closest* last = NULL;
    const bool is_ordered = call->job->is_ordered;
    for (int64_t i = from; i < to; i++)
        keys[i - from] =
            (sap_ray_key){is_ordered ? 0 : order_of(&call->tree->shape, point_at(call, i)), (uint32_t)(i - from)};
    if (!is_ordered) keys = sap_ray_keys_sort(keys, other, to - from);
    for (int64_t i = 0; i < to - from;) {
        const int64_t left = to - from - i, most = call->kernels->lanes;
        if (PACKETS) {
            i += answer_some(call, from, keys + i, (int32_t)(left < most ? left : most), &last);
        } else {
            last = answer(call, from + keys[i++].ray, last);
        }
    }
}

static float apart2_of(const sap_mesh_tree_shape* s) {
    float sides2 = 0;
    for (int k = 0; k < 3; k++) sides2 += (s->upper[k] - s->lower[k]) * (s->upper[k] - s->lower[k]);
    return s->triangles ? APART * APART * sides2 / (float)s->triangles : 0;
}

static void answer_as_they_come(const closest_call* call, int64_t from, int64_t to) {
    const sap_closest* last = NULL;
    for (int64_t i = from; i < to; i++) last = answer(call, i, last);
}

static void answer_part(void* context, int64_t part, int32_t worker) {
    closest_call* call = context;
    const int64_t from = part * call->part, left = call->job->points.count - from;
    const int64_t to = from + (left < call->part ? left : call->part);
    sap_ray_key local[2 * LOCAL_KEYS], *keys = local, *other = local + LOCAL_KEYS;
    if (!sap_progress_add(&call->progress, 0)) return;
    if (call->keys.memory) {
        SAP_ASSERT(worker < call->threads);
        keys = (sap_ray_key*)(void*)call->keys.memory + 2 * (int64_t)worker * call->part;
        other = keys + call->part;
    }
    SAP_ASSERT(call->keys.memory || to - from <= LOCAL_KEYS);
    if (to - from <= FEW)
        answer_as_they_come(call, from, to);
    else
        answer_ordered(call, from, to, keys, other);
    sap_progress_add(&call->progress, to - from);
}

// Chooses the length of parts and takes the memory for their keys.
static bool reserve(closest_call* call) {
    sap_device* device = call->tree->device;
    const int64_t count = call->job->points.count, threads = device->options.threads;
    const int64_t even = (count + threads * PARTS_PER_THREAD - 1) / (threads * PARTS_PER_THREAD);
    call->part = even > PART_MOST || threads == 1 ? PART_MOST : even < PART_LEAST ? PART_LEAST : even;
    if (call->part > count) call->part = count;
    const int64_t parts = (count + call->part - 1) / call->part;
    call->threads = (int32_t)(parts < threads ? parts : threads);
    size_t bytes;
    return count <= LOCAL_KEYS ||
           (sap_size_multiply((uint64_t)call->threads * 2 * sizeof(sap_ray_key), (size_t)call->part, &bytes) &&
            sap_scratch_take(device, bytes, &call->keys));
}

sap_status sap_closest_point_cpu(const sap_mesh_tree* tree, const sap_closest_job* job) {
    const int64_t count = job->points.count;
    closest_call call = {.tree = tree,
                         .job = job,
                         .kernels = sap_cpu_kernels_of(tree->device, 32)->closest,
                         .magnitude = sap_mesh_magnitude(tree),
                         .apart2 = apart2_of(&tree->shape),
                         .progress = sap_progress_begin(tree->device, count)};
    if (count == 0) return SAP_OK;
    if (!reserve(&call)) return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory to order points");
    sap_team_run(call.threads, (count + call.part - 1) / call.part, answer_part, &call);
    sap_scratch_give(tree->device, &call.keys);
    // Calls with few points report no progress.
    if (count > LOCAL_KEYS && !sap_progress_finish(&call.progress))
        return sap_fail(tree->device, SAP_ERROR_CANCELLED, "the search was cancelled");
    return SAP_OK;
}
