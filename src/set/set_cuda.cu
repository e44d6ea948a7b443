// Points that come and go on a CUDA device: rows in order of their ids, and one tree over those that are left. There are
// no levels: the GPU builds a tree over all points in the time in which a CPU changes some, so the first search after
// changes does that.
#include "compact/prefix_sum_cuda.h"
#include "nearest/ops.h"
#include "radius/neighbors.h"
#include "set/rows_cuda.cuh"
#include "tree/tree_cuda.h"
#include <sched.h>

typedef struct cuda_set {
    set_rows rows;
    sap_tree tree;    // with the set's ids
    int32_t is_stale; // the tree is not of these rows
    int32_t lock;     // of whoever builds it
} cuda_set;

static cuda_set* kept_by(const sap_set* set) { return (cuda_set*)set->kept; }

static sap_cuda_grid each(int64_t items) { return sap_cuda_grid_for(items, ROWS_THREADS); }

// Searches build the tree, one of them, while others and descriptions wait.
static void lock(cuda_set* c) {
    while (__atomic_exchange_n(&c->lock, 1, __ATOMIC_ACQUIRE)) sched_yield();
}

static void unlock(cuda_set* c) { __atomic_store_n(&c->lock, 0, __ATOMIC_RELEASE); }

// ---- From first to last

sap_status sap_set_open_cuda(sap_set* set) {
    cuda_set* c = (cuda_set*)sap_memory_allocate_zero(set->device, sizeof *c);
    if (!c) return sap_fail(set->device, SAP_ERROR_MEMORY, "no memory for a set");
    c->rows.dims = set->dims;
    c->tree.device = set->device;
    c->tree.options.leaf_size = SAP_LEAF_DEFAULT;
    c->is_stale = 1;
    set->kept = c;
    return SAP_OK;
}

void sap_set_close_cuda(sap_set* set) {
    cuda_set* c = kept_by(set);
    sap_tree_free_arrays_cuda(&c->tree);
    sap_cuda_release(set->device, c->rows.memory, c->rows.bytes);
    sap_memory_release(set->device, c, sizeof *c);
}

void sap_set_describe_cuda(const sap_set* set, sap_set_info* info) {
    cuda_set* c = kept_by(set);
    lock(c);
    info->removed = c->rows.count - set->live;
    info->trees = set->live > 0;
    info->bytes += sizeof *c + c->rows.bytes + c->tree.memory.allocated;
    if (c->tree.beside) info->bytes += sap_cuda_tree_of(&c->tree)->boxes_bytes;
    unlock(c);
}

// ---- Rows

static size_t padded(size_t bytes) { return (bytes + 255) / 256 * 256; }

// Takes memory for `room` rows. False, and the call fails, if there is none.
static bool make_rows(sap_cuda_call* call, const sap_set* set, int64_t room, set_rows* rows) {
    const size_t coords = padded((size_t)room * (size_t)set->dims * ((size_t)set->real_bits / 8));
    const size_t ids = padded((size_t)room * sizeof(int32_t));
    const size_t gone = padded((size_t)set_words(room) * sizeof(uint32_t));
    memset(rows, 0, sizeof *rows);
    rows->bytes = coords + ids + 2 * gone;
    rows->memory = (unsigned char*)sap_cuda_allocate(call, rows->bytes);
    rows->coords = rows->memory;
    rows->room = room;
    rows->dims = set->dims;
    if (!rows->memory) return false;
    rows->ids = (int32_t*)(rows->memory + coords);
    for (int i = 0; i < 2; i++) rows->gone[i] = (uint32_t*)(rows->memory + coords + ids + (size_t)i * gone);
    sap_cuda_fill(call, rows->gone[0], 0, 2 * gone);
    return true;
}

// How many points the rows before each word of bits hold.
static int64_t* count_live(sap_cuda_call* call, const set_rows* rows) {
    const int64_t words = set_words(rows->count);
    int64_t* live = (int64_t*)sap_cuda_take(call, (size_t)(words + 1) * sizeof *live);
    sap_cuda_launch(call, set_count_live, each(words), *rows, live);
    sap_prefix_sum_cuda(call, live, words);
    return live;
}

// ---- Inserting

// New points on the device, in order of their ids.
static set_fresh bring(sap_cuda_call* call, const cuda_set* c, const sap_set_batch* batch) {
    const sap_rows rows = sap_cuda_rows_in(call, &batch->rows);
    const size_t bytes = (size_t)rows.count * sizeof(int32_t);
    sap_cuda_rows_check(call, &c->tree.options, &rows);
    int32_t* ids = (int32_t*)sap_cuda_take(call, bytes);
    const int32_t* given = batch->ids ? (const int32_t*)sap_cuda_in(call, batch->ids, bytes) : NULL;
    const int32_t* order = batch->order ? (const int32_t*)sap_cuda_in(call, batch->order, bytes) : NULL;
    sap_cuda_launch(call, set_sort_ids, each(rows.count), given, order, batch->first, rows.count, ids);
    const set_fresh fresh = {rows.coords, rows.count, rows.stride, order, ids, given};
    return fresh;
}

// Fails the call over an id that is in the set.
static void refuse_held(sap_cuda_call* call, const cuda_set* c, const sap_set_batch* batch, const set_fresh* fresh) {
    unsigned long long none = ULLONG_MAX, row = none;
    unsigned long long* held = (unsigned long long*)sap_cuda_take(call, sizeof none);
    sap_cuda_copy(call, held, &none, sizeof none);
    sap_cuda_launch(call, set_find_held, each(fresh->count), c->rows, *fresh, held);
    sap_cuda_fetch(call, &row, held, sizeof row);
    if (call->status == SAP_OK && row != none)
        call->status = sap_fail(call->device, SAP_ERROR_ARGUMENT, "ids: %d is in the set", (int)batch->ids[row]);
}

// Makes rows of the points that there are and the new ones, with room for a quarter more.
template <typename real>
static void join(sap_cuda_call* call, const sap_set* set, const set_fresh* fresh, set_rows* joined) {
    const set_rows* rows = &kept_by(set)->rows;
    const int64_t count = set->live + fresh->count;
    if (!make_rows(call, set, count + count / 4 + 1024, joined)) return;
    const int64_t* live = count_live(call, rows);
    sap_cuda_launch(call, set_move_old<real>, each(rows->count), *rows, live, *fresh, *joined);
    sap_cuda_launch(call, set_move_new<real>, each(fresh->count), *rows, live, *fresh, *joined);
    joined->count = count;
}

template <typename real>
static void put(sap_cuda_call* call, const sap_set* set, const sap_set_batch* batch, const set_fresh* fresh,
                set_rows* joined) {
    const set_rows* rows = &kept_by(set)->rows;
    const bool follows = sap_set_batch_id(batch, 0) >= set->next_id;
    if (follows && rows->count + fresh->count <= rows->room)
        sap_cuda_launch(call, set_append<real>, each(fresh->count), *rows, *fresh);
    else
        join<real>(call, set, fresh, joined);
}

static void give_ids(sap_cuda_call* call, const set_fresh* fresh, int32_t* given) {
    const size_t bytes = (size_t)fresh->count * sizeof *given;
    int32_t* out = (int32_t*)sap_cuda_out(call, given, bytes);
    if (out) sap_cuda_copy(call, out, fresh->given ? fresh->given : fresh->ids, bytes);
}

static sap_status insert(sap_set* set, const sap_set_batch* batch, int32_t* given) {
    cuda_set* c = kept_by(set);
    set_rows joined = {};
    sap_cuda_call call;
    sap_cuda_begin(&call, set->device);
    const set_fresh fresh = bring(&call, c, batch);
    if (batch->ids && c->rows.count > 0) refuse_held(&call, c, batch, &fresh);
    if (set->real_bits == 64)
        put<double>(&call, set, batch, &fresh, &joined);
    else
        put<float>(&call, set, batch, &fresh, &joined);
    give_ids(&call, &fresh, given);
    if (sap_cuda_end(&call, SAP_OK) != SAP_OK) {
        sap_cuda_release(set->device, joined.memory, joined.bytes);
        return call.status;
    }
    if (joined.memory) {
        sap_cuda_release(set->device, c->rows.memory, c->rows.bytes);
        c->rows = joined;
    } else {
        c->rows.count += fresh.count;
    }
    c->is_stale = 1;
    sap_set_batch_taken(set, batch);
    return SAP_OK;
}

// The host's copy of ids that lie on the device, in `copy`; or the ids themselves.
static sap_status ids_on_host(sap_set* set, const int32_t** ids, int64_t count, sap_scratch* copy) {
    sap_cuda_call call;
    sap_cuda_begin(&call, set->device);
    if (sap_cuda_on_device(&call, *ids)) {
        const size_t bytes = (size_t)count * sizeof **ids;
        if (!sap_scratch_take(set->device, bytes, copy))
            return sap_cuda_end(&call, sap_fail(set->device, SAP_ERROR_MEMORY, "no memory for ids"));
        sap_cuda_fetch(&call, copy->memory, *ids, bytes);
        *ids = (const int32_t*)(void*)copy->memory;
    }
    return sap_cuda_end(&call, SAP_OK);
}

sap_status sap_set_insert_cuda(sap_set* set, const sap_rows* points, const int32_t* ids, int32_t* given) {
    sap_set_batch batch = {*points, NULL, ids, set->next_id};
    sap_scratch order = {NULL, 0}, copy = {NULL, 0};
    sap_status status = ids ? ids_on_host(set, &batch.ids, points->count, &copy) : SAP_OK;
    if (status == SAP_OK) status = sap_set_batch_take(set, &batch, &order);
    if (status == SAP_OK) status = insert(set, &batch, given);
    sap_scratch_give(set->device, &order);
    sap_scratch_give(set->device, &copy);
    return status;
}

// ---- Removing

// Begins a change of the bits: a copy of them, and a count of what it removes.
static uint32_t* begin_removal(sap_cuda_call* call, const set_rows* rows, unsigned long long** removed) {
    *removed = (unsigned long long*)sap_cuda_take(call, sizeof **removed);
    sap_cuda_fill(call, *removed, 0, sizeof **removed);
    sap_cuda_copy(call, rows->gone[1], rows->gone[0], (size_t)set_words(rows->count) * sizeof(uint32_t));
    return rows->gone[1];
}

static sap_status end_removal(sap_set* set, sap_cuda_call* call, const unsigned long long* count, int64_t* removed) {
    cuda_set* c = kept_by(set);
    unsigned long long total = 0;
    sap_cuda_fetch(call, &total, count, sizeof total);
    if (sap_cuda_end(call, SAP_OK) != SAP_OK) return call->status;
    *removed = (int64_t)total;
    if (total == 0) return SAP_OK;
    uint32_t* gone = c->rows.gone[0];
    c->rows.gone[0] = c->rows.gone[1];
    c->rows.gone[1] = gone;
    c->is_stale = 1;
    set->live -= *removed;
    return SAP_OK;
}

sap_status sap_set_remove_cuda(sap_set* set, const int32_t* ids, int64_t count, int64_t* removed) {
    const set_rows* rows = &kept_by(set)->rows;
    unsigned long long* total;
    sap_cuda_call call;
    if (rows->count == 0 || count == 0) return SAP_OK;
    sap_cuda_begin(&call, set->device);
    const int32_t* there = (const int32_t*)sap_cuda_in(&call, ids, (size_t)count * sizeof *ids);
    uint32_t* gone = begin_removal(&call, rows, &total);
    sap_cuda_launch(&call, set_remove_ids, each(count), *rows, gone, there, count, total);
    return end_removal(set, &call, total, removed);
}

sap_status sap_set_trim_cuda(sap_set* set, const sap_set_box* box, int64_t* removed) {
    const set_rows* rows = &kept_by(set)->rows;
    unsigned long long* total;
    sap_cuda_call call;
    if (rows->count == 0) return SAP_OK;
    sap_cuda_begin(&call, set->device);
    uint32_t* gone = begin_removal(&call, rows, &total);
    if (set->real_bits == 64)
        sap_cuda_launch(&call, set_trim_rows<double>, each(rows->count), *rows, gone, *box, total);
    else
        sap_cuda_launch(&call, set_trim_rows<float>, each(rows->count), *rows, gone, *box, total);
    return end_removal(set, &call, total, removed);
}

// ---- Searching

static void name_points(sap_cuda_call* call, const sap_tree* tree, const int32_t* ids) {
    const sap_tree_shape* s = &tree->shape;
    if (call->status != SAP_OK) return; // the tree has no arrays, perhaps
    sap_cuda_launch(call, set_name_slots, each(s->slots), *tree, ids);
    for (int32_t level = 0; level < s->levels; level++) {
        const int64_t count = sap_level_groups(s, level) * SAP_GROUP;
        int32_t* least = (int32_t*)(tree->arrays + s->min_id_at[level]);
        sap_cuda_launch(call, set_name_least, each(count), least, count, ids);
    }
}

static sap_status build(const sap_set* set, cuda_set* c) {
    const set_rows* rows = &c->rows;
    const sap_rows points = {rows->coords, rows->count, set->dims, set->dims, set->real_bits};
    int32_t* keep = NULL;
    sap_cuda_call call;
    sap_cuda_begin(&call, set->device);
    if (call.captured)
        return sap_cuda_end(&call, sap_fail(set->device, SAP_ERROR_UNSUPPORTED,
                                            "the stream is being captured, and the set has changed since it was last "
                                            "searched; search it once before capturing"));
    if (set->live < rows->count) {
        const int64_t* live = count_live(&call, rows);
        keep = (int32_t*)sap_cuda_take(&call, (size_t)set->live * sizeof *keep);
        sap_cuda_launch(&call, set_list_live, each(rows->count), *rows, live, keep);
    }
    sap_cuda_build_balanced(&call, &c->tree, &points, keep, set->live);
    name_points(&call, &c->tree, rows->ids);
    sap_cuda_tree_boxes(&call, &c->tree);
    return sap_cuda_end(&call, SAP_OK);
}

// The tree over what the set holds now.
static sap_status settle(const sap_set* set) {
    cuda_set* c = kept_by(set);
    if (!__atomic_load_n(&c->is_stale, __ATOMIC_ACQUIRE)) return SAP_OK;
    lock(c);
    const sap_status status = c->is_stale ? build(set, c) : SAP_OK;
    if (status == SAP_OK) __atomic_store_n(&c->is_stale, 0, __ATOMIC_RELEASE);
    unlock(c);
    return status;
}

sap_status sap_set_nearest_cuda(const sap_set* set, const sap_nearest_job* job) {
    const sap_status status = settle(set);
    return status == SAP_OK ? sap_nearest_cuda(&kept_by(set)->tree, job) : status;
}

sap_status sap_set_radius_cuda(const sap_set* set, const sap_radius_job* job) {
    sap_neighbors* found = NULL;
    sap_radius_job own = *job;
    if (job->found) own.found = &found;
    sap_status status = settle(set);
    if (status == SAP_OK) status = sap_radius_cuda(&kept_by(set)->tree, &own);
    if (status == SAP_OK && found) status = sap_neighbors_sort(found);
    if (status == SAP_OK && found)
        *job->found = found;
    else
        sap_neighbors_free(found);
    return status;
}
