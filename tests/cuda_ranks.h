// Ranks that are threads of a test, each with a GPU and the CPU: trees over both, to be compared. For test programs only.
#ifndef SAPWOOD_TESTS_CUDA_RANKS_H
#define SAPWOOD_TESTS_CUDA_RANKS_H

#include "allocator.h"
#include "cluster/cluster.h"
#include "cuda_tools.h"
#include "engines.h"
#include "families.h"
#include "test.h"
#include "tree/host_view.h"
#include <math.h>
#include <pthread.h>

enum { MOST_RANKS = 33 };

typedef enum owners { OWNERS_BLOCKS, OWNERS_RANDOM, OWNERS_FIRST, OWNERS_SOME, OWNERS_COUNT } owners;

typedef struct scene {
    cloud points;
    int32_t ranks, gpus;
    owners give;
    bool with_ids, staged, all_ks;
    sap_tree_options options;
    uint64_t chance;
    void* user; // of the test
} scene;

typedef struct rank_thread {
    pthread_t thread;
    const scene* s;
    sap_comm* comm;
    watch w;
    sap_device *cpu, *gpu;
} rank_thread;

// A copy in GPU memory.
static inline void* put_there(const void* from, size_t bytes) {
    void* to = cuda_tools_allocate(bytes + 1);
    cuda_tools_copy(to, from, bytes);
    return to;
}

// A rank's share, and its ids, which do not ascend with rows.
static inline cloud share_of(const scene* s, int32_t rank, int64_t* ids) {
    uint64_t state = s->chance ^ 5;
    cloud share =
        cloud_make(s->points.count, s->points.dims, s->points.real_bits, s->chance % 2 ? 0 : s->points.dims + 1);
    int64_t count = 0;
    for (int64_t i = 0; i < s->points.count; i++) {
        int64_t owner = i * s->ranks / s->points.count;
        if (s->give == OWNERS_RANDOM) owner = random_below(&state, s->ranks);
        if (s->give == OWNERS_FIRST) owner = 0;
        if (s->give == OWNERS_SOME) owner = owner / 2 * 2; // every second rank gives none
        if (owner != rank) continue;
        for (int32_t a = 0; a < s->points.dims; a++) cloud_set(&share, count, a, cloud_get(&s->points, i, a));
        ids[count++] = (s->points.count - i) * 3 + (s->chance % 2 ? INT64_C(1) << 40 : 0);
    }
    share.count = count;
    return share;
}

static inline sap_status build(rank_thread* r, sap_device* device, const cloud* c, const int64_t* ids,
                               sap_cluster_tree** tree) {
    const sap_tree_options* options = &r->s->options;
    if (c->real_bits == 64)
        return sap_cluster_build_f64(r->comm, device, (sap_points_f64){c->coords, c->count, c->dims, c->stride}, ids,
                                     options, tree);
    return sap_cluster_build(r->comm, device, (sap_points){c->coords, c->count, c->dims, c->stride}, ids, options,
                             tree);
}

static inline sap_status build_there(rank_thread* r, const cloud* c, const int64_t* ids, sap_cluster_tree** tree) {
    cloud up = *c;
    up.coords = put_there(c->coords, (size_t)(c->count * c->stride) * (size_t)c->real_bits / 8);
    int64_t* up_ids = ids ? put_there(ids, (size_t)c->count * sizeof *ids) : NULL;
    const sap_status status = build(r, r->gpu, &up, up_ids, tree);
    cuda_tools_release(up.coords);
    cuda_tools_release(up_ids);
    return status;
}

// A subtree's arrays that a device has made, as the host has them: global ids in its leaves, if `piece` holds them there, in
// place of places, which are to be those of `piece`.
static inline unsigned char* named_arrays(const sap_cluster_piece* piece, const sap_tree* there, const int64_t* ids) {
    const sap_tree_shape* s = &piece->tree->shape;
    unsigned char* arrays = malloc(s->bytes);
    const size_t coords = (size_t)s->stride * (size_t)s->dims * (size_t)s->real_bits / 8;
    bool same = true;
    memcpy(arrays, there->arrays, s->bytes);
    for (int64_t leaf = 0; leaf < s->leaves && piece->places; leaf++) {
        int32_t* held =
            (int32_t*)(void*)(arrays + s->block_at + (size_t)(leaf * s->stride) * sap_slot_bytes(s) + coords);
        for (int64_t i = 0; i < sap_leaf_rank(s, leaf + 1) - sap_leaf_rank(s, leaf); i++) {
            same = same && held[i] == piece->places[leaf * s->stride + i];
            held[i] = (int32_t)ids[held[i]];
        }
    }
    CHECK(same);
    for (int32_t j = 0; j < s->levels && piece->places; j++) {
        int32_t* least = (int32_t*)(void*)(arrays + s->min_id_at[j]);
        for (int64_t i = 0; i < SAP_GROUP * sap_level_groups(s, j); i++)
            if (least[i] != INT32_MAX) least[i] = (int32_t)ids[least[i]];
    }
    return arrays;
}

static inline void compare_pieces(const sap_cluster_tree* a, const sap_cluster_tree* b) {
    CHECK_EQUAL(a->piece_count, b->piece_count);
    CHECK_EQUAL(a->moved, b->moved);
    CHECK_EQUAL(a->plane_count, b->plane_count);
    for (int32_t i = 0; i < a->plane_count; i++) {
        CHECK_EQUAL(a->planes[i].axis, b->planes[i].axis);
        CHECK(a->planes[i].split == b->planes[i].split);
    }
    CHECK_EQUAL(a->top.count, b->top.count);
    const size_t unused = 2 * (size_t)a->dims; // node 0
    CHECK(!memcmp(a->top.boxes + unused, b->top.boxes + unused, a->top.boxes_bytes - unused * sizeof *a->top.boxes));
    CHECK(!memcmp(a->top.owners, b->top.owners, a->top.owners_bytes));
    CHECK_STATUS(sap_cluster_fetch_ids(b), SAP_OK);
    int64_t* ids = malloc(((size_t)a->count_here + 1) * sizeof *ids);
    int64_t first = 0;
    CHECK_STATUS(sap_cluster_find_places(a), SAP_OK);
    sap_cluster_list(a, ids, NULL);
    for (int32_t i = 0; i < a->piece_count; first += a->pieces[i++].count) {
        const sap_cluster_piece *x = &a->pieces[i], *y = &b->pieces[i];
        sap_host_view view;
        if (!CHECK_EQUAL(x->count, y->count)) break;
        CHECK(!x->count || !memcmp(ids + first, y->ids, (size_t)x->count * sizeof *ids));
        CHECK_EQUAL(x->tree->shape.bytes, y->tree->shape.bytes);
        CHECK_STATUS(sap_host_view_open(y->tree, &view), SAP_OK);
        unsigned char* arrays = named_arrays(x, &view.tree, y->ids);
        CHECK(!memcmp(x->tree->arrays, arrays, x->tree->shape.bytes));
        free(arrays);
        sap_host_view_close(&view);
        CHECK_STATUS(sap_tree_verify(y->tree), SAP_OK);
    }
    free(ids);
}

// ---- Devices

// Opens a rank's two. Some ranks of the first GPU work in a stream of the caller's, and on arrays that are there: whether this
// one does.
static inline bool open_devices(rank_thread* r) {
    const int32_t rank = sap_comm_rank(r->comm);
    const bool there = rank % r->s->gpus == 0 && r->s->chance / 8 % 2;
    sap_device_options options = watched(&r->w);
    options.threads = 1;
    options.processor = SAP_CPU;
    CHECK_STATUS(sap_device_open(&options, &r->cpu), SAP_OK);
    options.processor = SAP_CUDA;
    options.ordinal = rank % r->s->gpus;
    if (there) options.stream = cuda_tools_stream();
    CHECK_STATUS(cuda_tools_open(&options, &r->gpu), SAP_OK);
    cuda_tools_watch_scratch(r->gpu);
    return there;
}

static inline void close_devices(rank_thread* r) {
    cuda_tools_watch_scratch(NULL);
    sap_device_close(r->gpu);
    sap_device_close(r->cpu);
    CHECK_EQUAL(r->w.blocks, 0);
    CHECK_EQUAL(r->w.wrong, 0);
}

// The end of a rank's test, with what it has made of the rest.
static inline void end_rank(rank_thread* r, sap_cluster_tree* tree, sap_cluster_tree* expected, cloud* share,
                            int64_t* ids) {
    sap_cluster_free(tree);
    sap_cluster_free(expected);
    cloud_free(share);
    free(ids);
    close_devices(r);
}

// An engine that does not know of memory on GPUs.
static inline sap_status host_gather(void* state, const void* mine, int64_t bytes, void* all, void* stream) {
    sap_comm* inner = state;
    return inner->engine.gather(inner->state, mine, bytes, all, stream);
}
static inline sap_status host_exchange(void* state, const void* send, const int64_t* send_bytes, void* receive,
                                       const int64_t* receive_bytes, void* stream) {
    sap_comm* inner = state;
    CHECK(!stream);
    return inner->engine.exchange(inner->state, send, send_bytes, receive, receive_bytes, stream);
}
static inline sap_status host_reduce(void* state, sap_reduction how, uint64_t* values, int64_t count, void* stream) {
    sap_comm* inner = state;
    return inner->engine.reduce(inner->state, how, values, count, stream);
}
static inline sap_status host_split(void* state, int32_t color, int32_t key, sap_comm** part) {
    (void)state, (void)color, (void)key, (void)part;
    return SAP_ERROR_UNSUPPORTED;
}
static inline void host_abort(void* state, sap_status status) { sap_comm_abort(state, status); }
static inline void host_close(void* state) { sap_comm_close(state); }
static const sap_comm_engine host_engine = {host_gather, host_exchange, host_reduce, host_split,
                                            host_abort,  host_close,    false,       {0}};

// Does `work` on each rank of a scene.
static inline void run_scene(const scene* s, void* (*work)(void*)) {
    sap_comm *inner[MOST_RANKS], *comms[MOST_RANKS];
    rank_thread ranks[MOST_RANKS] = {{0}};
    if (!open_ranks(s->ranks, inner)) return;
    for (int32_t r = 0; r < s->ranks; r++) {
        comms[r] = inner[r];
        if (s->staged) CHECK_STATUS(sap_comm_open(&host_engine, inner[r], r, s->ranks, NULL, &comms[r]), SAP_OK);
        ranks[r].s = s;
        ranks[r].comm = comms[r];
        CHECK(!pthread_create(&ranks[r].thread, NULL, work, &ranks[r]));
    }
    for (int32_t r = 0; r < s->ranks; r++) pthread_join(ranks[r].thread, NULL);
    CHECK_EQUAL(cuda_tools.given_early, 0);
    close_ranks(s->ranks, comms);
}

#endif
