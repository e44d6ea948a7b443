// Inserting on the CPU: into the block while it has room, else into a new level, together with levels that are not
// larger.
#include "set/set.h"

// ---- The new points

static sap_status take(sap_set* set, sap_set_batch* batch, sap_scratch* scratch) {
    const sap_status status = sap_set_batch_take(set, batch, scratch);
    for (int64_t i = 0; i < batch->rows.count && batch->ids && status == SAP_OK; i++) {
        const int32_t id = batch->ids[i];
        if (id < set->next_id && sap_set_holds(set, id))
            return sap_fail(set->device, SAP_ERROR_ARGUMENT, "ids: %d is in the set", (int)id);
    }
    return status;
}

// ---- Into a level

static bool is_free(const sap_set_level* level, int32_t size) {
    return !level->is_merging && sap_set_size_of(level->tree.shape.count) == size;
}

// The levels that go into a new one with `points` new points: all that are not of a larger size than it, as long as it
// has `most` points at most. Of a batch of more than an eighth of the set: all.
static void choose_levels(const sap_set* set, int64_t points, int64_t most, sap_set_merge* merge) {
    const bool takes_all = points > set->live / 8;
    sap_set_merge_begin(set, merge);
    for (int32_t size = 0; size < SAP_SET_SIZES && (takes_all || size <= sap_set_size_of(points + merge->points));
         size++)
        for (int32_t i = 0; i < set->levels; i++)
            if (is_free(set->level[i], size) && points + merge->points + set->level[i]->live <= most)
                sap_set_merge_level(merge, set->level[i]);
}

// Chooses what is merged at once. A larger merge is begun beside; while one is under way, levels gather.
static void plan(sap_set* set, int64_t points, sap_set_merge* merge) {
    for (;;) {
        choose_levels(set, points, INT64_MAX, merge);
        const int64_t all = merge->points + points;
        if (!set->in_background || all <= SAP_SET_BESIDE || points > all / 2) return;
        if (set->worker && set->levels < SAP_SET_CROWDED) {
            choose_levels(set, points, SAP_SET_BESIDE, merge);
            return;
        }
        if (set->worker)
            sap_set_worker_end(set, true);
        else if (!sap_set_worker_begin(set, merge))
            return;
    }
}

// The merged level with the most memory, into which the merge goes; or a new one.
static sap_set_level* choose_target(sap_set* set, const sap_set_merge* merge) {
    const sap_set_level* most = NULL;
    for (int32_t i = 0; i < merge->sources; i++) {
        const sap_set_level* level = merge->source[i].level;
        if (level && (!most || level->tree.memory.allocated > most->tree.memory.allocated)) most = level;
    }
    return most ? (sap_set_level*)(uintptr_t)most : sap_set_level_create(set);
}

static sap_status into_level(sap_set* set, const sap_set_batch* batch) {
    sap_set_merge merge;
    plan(set, batch->rows.count + set->flat.live, &merge);
    sap_set_level* target = choose_target(set, &merge);
    if (!target) return sap_fail(set->device, SAP_ERROR_MEMORY, "no memory for a tree");
    const bool is_new = merge.sources == 0;
    merge.source[merge.sources++] = (sap_set_source){.flat = &set->flat, .end = set->flat.count};
    merge.source[merge.sources++] = (sap_set_source){.batch = batch, .end = batch->rows.count};
    merge.points += batch->rows.count + set->flat.live;
    const sap_status status = sap_set_level_build(&set->quiet, target, &merge);
    if (status != SAP_OK) {
        if (is_new) sap_set_level_give(set, target);
        return sap_fail(set->device, status, "no memory to insert %lld points", (long long)batch->rows.count);
    }
    SAP_ASSERT(target->live == merge.points);
    sap_set_levels_drop(set, &merge, target);
    sap_set_level_add(set, target);
    sap_set_flat_clear(set);
    return SAP_OK;
}

static sap_status into_block(sap_set* set, const sap_set_batch* batch) {
    if (set->flat.count + batch->rows.count > SAP_SET_FLAT) sap_set_flat_pack(set);
    sap_set_flat_put(set, batch);
    return SAP_OK;
}

sap_status sap_set_insert_cpu(sap_set* set, const sap_rows* points, const int32_t* ids, int32_t* given) {
    const int64_t bad = sap_set_bad_row(points), count = points->count, first = set->next_id;
    const size_t row_bytes = (size_t)points->stride * ((size_t)points->real_bits / 8);
    if (bad >= 0)
        return sap_point_refuse(set->device, (const unsigned char*)points->coords + (size_t)bad * row_bytes,
                                points->dims, points->real_bits, bad);
    sap_set_worker_end(set, false);
    sap_set_batch batch = {.rows = *points, .ids = ids, .first = first};
    sap_scratch scratch = {NULL, 0};
    sap_status status = take(set, &batch, &scratch);
    if (status == SAP_OK)
        status = set->flat.live + count <= SAP_SET_FLAT ? into_block(set, &batch) : into_level(set, &batch);
    if (status == SAP_OK) {
        sap_set_batch_taken(set, &batch);
        for (int64_t i = 0; i < count && given; i++) given[i] = ids ? ids[i] : (int32_t)(first + i);
    }
    sap_scratch_give(set->device, &scratch);
    return status;
}
