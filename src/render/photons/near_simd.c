// The light at points, one after another: photons of the wrong side are left out as leaves are scanned, and what is near
// the point before bounds the next one's search. A sibling of render/photons/estimate.h over rows, which are not written.
#include "math/simd.h"

#if SAP_REAL_BITS == 32

#include "render/photons/near.h"
#include "tree/balanced/view_simd.h"

enum { DIMS = 3 };

// The query; the normal of its surface; and the ways and the normals of photons as blocks beside those of the tree.
typedef struct asked {
    vreal at[QUERY_VECTORS];
    int32_t self;
    int32_t stride;
    vreal normal[DIMS];
    const int32_t* first; // id of the tree's blocks
    const float *ways, *normals;
    const float* upright; // normal[DIMS]
    const float* turns[SAP_MAX_LEVELS];
} asked;

INLINE vreal along(const asked* q, const float* vectors) {
    const vreal x = v_mul(v_load(vectors), q->normal[0]), y = v_mul(v_load(vectors + q->stride), q->normal[1]),
                z = v_mul(v_load(vectors + 2 * q->stride), q->normal[2]);
    return v_add(v_add(x, y), z);
}

// Of the lanes in `close`, those of photons from the side to which the normal points (sap_photon_counts).
INLINE uint32_t kept(const asked* q, const int32_t* ids, uint32_t close) {
    const int64_t at = ids - q->first;
    if (!close) return 0;
    return close & v_less(along(q, q->ways + at), v_set(0)) & v_less(v_set(0), along(q, q->normals + at));
}

// The least or the largest that along() may be of the photons below boxes from number `first` on: the same operations on
// the ends of what they share, each of them monotonic, so rounding never makes a bound too tight.
INLINE vreal end_along(const asked* q, const float* turns, const int first, const bool largest) {
    vreal sum = v_set(0);
    for (int a = 0; a < DIMS; a++) {
        const bool upper = (q->upright[a] >= 0) == largest;
        const vreal x = v_mul(v_load(turns + (2 * a + upper) * SAP_GROUP + first), q->normal[a]);
        sum = a ? v_add(sum, x) : x;
    }
    return sum;
}

static __attribute__((noinline)) uint32_t worth_of(const asked* q, int level, int64_t group) {
    const float* turns = q->turns[level] + group * SAP_TURN_FLOATS;
    uint32_t none = 0;
    for (int v = 0; v < SAP_GROUP; v += LANES)
        none |= (v_less_equal(v_set(0), end_along(q, turns, v, false)) |
                 v_less_equal(end_along(q, turns + 2 * DIMS * SAP_GROUP, v, true), v_set(0)))
                << v;
    return ~none & 0xffff;
}

// Most searches end after a few leaves, and are not slowed down.
INLINE uint32_t worth(const asked* q, int level, int64_t group, int64_t leaves) {
    enum { FEW_LEAVES = 64 };
    return __builtin_expect(leaves < FEW_LEAVES, 1) ? 0xffff : worth_of(q, level, group);
}

#define OWN_ASKED
#include "nearest/walk_simd.h"

enum {
    MOST = SAP_NEAR_MOST + 1, // one tells the radius
    ROOM = 2 * MOST + POOL_SPARE,
    BUCKETS = 128,
    BUCKET_MOST = 32 // keys: with more in one, sorting by buckets would be slow
};

static void sort_by_heap(key* keys, int32_t count) {
    for (int32_t i = count / 2; i-- > 0;) { // the heap below i grows by keys[i]
        const key x = keys[i];
        int32_t at = i;
        for (int32_t child; (child = 2 * at + 1) < count; at = child) {
            if (child + 1 < count && key_less(keys[child], keys[child + 1])) child++;
            if (!key_less(x, keys[child])) break;
            keys[at] = keys[child];
        }
        keys[at] = x;
    }
    for (int32_t end = count - 1; end > 0; end--) {
        const key last = keys[end];
        keys[end] = keys[0];
        heap_replace_top(keys, end, last);
    }
}

// Photons are spread over surfaces, so as many of them are expected in each ring of the same area: buckets by squared
// distance are nearly even.
static void sort_keys(key* keys, int32_t count, key* room) {
    uint16_t starts[BUCKETS + 1] = {0};
    real most = 0;
    for (int32_t i = 0; i < count; i++) most = key_distance(keys[i]) > most ? key_distance(keys[i]) : most;
    const real scale = (real)(BUCKETS - 1) / most;
    int largest = 0;
    if (most > 0 && scale < FLT_MAX) {
        for (int32_t i = 0; i < count; i++) starts[(int)(key_distance(keys[i]) * scale)]++;
        for (int b = 0; b < BUCKETS; b++) largest = starts[b] > largest ? starts[b] : largest;
    }
    if (largest == 0 || largest > BUCKET_MOST) {
        sort_by_heap(keys, count);
        return;
    }
    uint16_t at = 0;
    for (int b = 0; b < BUCKETS; b++) {
        const uint16_t here = starts[b];
        starts[b] = at;
        at = (uint16_t)(at + here);
    }
    memcpy(room, keys, (size_t)count * sizeof *keys);
    for (int32_t i = 0; i < count; i++) keys[starts[(int)(key_distance(room[i]) * scale)]++] = room[i];
    for (int32_t i = 1; i < count; i++) {
        const key x = keys[i];
        int32_t j = i;
        for (; j > 0 && key_less(x, keys[j - 1]); j--) keys[j] = keys[j - 1];
        keys[j] = x;
    }
}

// Adds up photons in order. There are more than k of them if the (k+1)-th is within the radius.
static void add_up(const sap_photon_rows* rows, const key* keys, int32_t count, float* light) {
    const int32_t k = rows->search.k;
    const bool full = k && count > k;
    const double farthest = count ? (double)key_distance(keys[full ? k : count - 1]) : 0,
                 radius2 = sap_photon_radius2(&rows->search, full, farthest);
    double sum[3] = {0, 0, 0};
    if (!(radius2 > 0)) return;
    for (int32_t i = 0; i < (full ? k : count); i++) {
        const double distance2 = (double)key_distance(keys[i]);
        if (distance2 > radius2) break;
        const float* power = rows->photons[key_id(keys[i])].power;
        const double weight = sap_photon_weight((int)rows->search.filter, distance2, radius2);
        for (int a = 0; a < 3; a++) sum[a] += weight * (double)power[a];
    }
    for (int a = 0; a < 3; a++) light[a] = (float)(sum[a] / (SAP_PI * radius2));
}

// Where the search before ended: the point, and how far its farthest photon was.
typedef struct before {
    const float* at;
    real reach;
} before;

// What bounds the search unless the point lies on another surface: as many photons were within reach of the one before.
INLINE real guess(const before* b, const float* at, real limit) {
    if (!b->at || !(b->reach > 0)) return limit;
    real d2 = 0;
    for (int a = 0; a < DIMS; a++) d2 += (at[a] - b->at[a]) * (at[a] - b->at[a]);
    const real reach = b->reach + sqrtf(d2), bound = reach * reach * (1 + 0x1p-16f);
    return bound < limit ? bound : limit;
}

static void estimate(const sap_near_run* run) {
    const tree_view view = view_tree(run->tree);
    const sap_photon_rows* rows = run->rows;
    const int32_t k = rows->search.k, want = k ? k + 1 : MOST;
    const int64_t slots = run->tree->shape.slots;
    key keys[ROOM] __attribute__((aligned(64))), room[ROOM];
    before last = {NULL, 0};
    sap_search_stats stats = {0, 0, 0};
    asked q;
    SAP_ASSERT(want <= MOST);
    q.self = -1;
    q.stride = view.stride;
    q.first = block_ids(&view, DIMS, leaf_block(&view, 0));
    q.ways = run->sides;
    q.normals = run->sides + (DIMS + 1) * slots;
    for (int32_t j = 0; j < view.levels; j++) q.turns[j] = run->sides + sap_turns_at(&run->tree->shape, j);
    for (int64_t i = 0; i < run->count; i++) {
        const float *at = run->coords + DIMS * i, *normal = rows->normals + DIMS * (int64_t)run->points[i];
        if (!load_query(at, DIMS, q.at) || !sap_photon_can_light(normal)) continue;
        q.upright = normal;
        for (int a = 0; a < DIMS; a++) q.normal[a] = v_set(normal[a]);
        list l;
        // A guess that proves too small is doubled, then given up.
        real bound = guess(&last, at, run->limit2);
        for (int tries = 0;; tries++) {
            pool_begin(&l, want, bound, keys, ROOM);
            walk(&view, KIND_POOL, DIMS, &q, -1, &l, &stats);
            if (l.count >= want || bound >= run->limit2) break;
            bound = tries == 0 && 4 * bound < run->limit2 ? 4 * bound : run->limit2;
        }
        if (k == 0 && l.count >= want) {
            run->open[run->points[i]] = 1;
            continue;
        }
        sort_keys(keys, l.count, room);
        if (k && l.count >= want) last = (before){at, sqrtf(key_distance(keys[k]))};
        add_up(rows, keys, l.count, rows->light + DIMS * (int64_t)run->points[i]);
    }
}

const sap_near_kernels SAP_KERNEL_OF_FLOAT(near_kernels) = {estimate};

#endif
