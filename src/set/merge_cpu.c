// Merges: lists that ascend by id become one level.
#include "set/set.h"
#include "tree/balanced/filled.h"
#include <string.h>

enum {
    SCRATCH_KEPT = 1 << 18, // points: memory for building more of them is given back at once
    SPARE_BYTES = 8 << 20   // of the largest level that is kept without points
};

// ---- Sources

void sap_set_merge_begin(const sap_set* set, sap_set_merge* merge) {
    merge->sources = 0;
    merge->dims = set->dims;
    merge->real_bits = set->real_bits;
    merge->points = 0;
    merge->rows = NULL;
}

void sap_set_merge_level(sap_set_merge* merge, const sap_set_level* level) {
    merge->source[merge->sources++] = (sap_set_source){.level = level, .end = level->tree.shape.count};
    merge->points += level->live;
}

// The id that comes next in a source, removed or not.
static int64_t head_of(const sap_set_source* s) {
    if (s->at == s->end) return INT64_MAX;
    if (s->level) return s->level->rows[s->at].id;
    return s->flat ? s->flat->ids[s->at] : sap_set_batch_id(s->batch, s->at);
}

// Copies runs: from the source whose id is the smallest, until another source's is. An id is in one source, and perhaps,
// removed, in others.
static int64_t fill(void* context, const sap_columns* columns) {
    sap_set_merge* m = context;
    int64_t head[SAP_SET_LEVELS + 2] = {INT64_MAX}, at = 0;
    for (int32_t i = 0; i < m->sources; i++) head[i] = head_of(&m->source[i]);
    for (;;) {
        int32_t first = 0;
        int64_t until = INT64_MAX;
        for (int32_t i = 1; i < m->sources; i++) {
            if (head[i] < head[first]) {
                until = head[first];
                first = i;
            } else if (head[i] < until) {
                until = head[i];
            }
        }
        if (head[first] == INT64_MAX) break;
        if (until == head[first]) until++;
        at = sap_set_copy(m, &m->source[first], until, columns->coords, columns->ids, columns->pitch, at);
        head[first] = head_of(&m->source[first]);
    }
    SAP_ASSERT(at <= m->points);
    return at;
}

// ---- Building

// The builder numbered the points; now they get their ids and know their places. Numbers ascend as ids do, so a leaf's
// ids still ascend, and the smallest of a node is that of the smallest number.
static void name_points(sap_set_level* level) {
    const sap_tree* tree = &level->tree;
    const sap_tree_shape* s = &tree->shape;
    const size_t coords = (size_t)s->stride * (size_t)s->dims * sap_real_bytes(s);
    for (int64_t leaf = 0; leaf < s->leaves; leaf++) {
        int32_t* ids = (int32_t*)(void*)(sap_set_leaf(level, leaf) + coords);
        const int64_t count = sap_leaf_rank(s, leaf + 1) - sap_leaf_rank(s, leaf);
        for (int64_t i = 0; i < count; i++) {
            sap_set_row* row = &level->rows[ids[i]];
            row->place = (uint32_t)(leaf << SAP_SET_PLACE_BITS | i);
            ids[i] = row->id;
        }
    }
    for (int32_t j = 0; j < s->levels; j++) {
        int32_t* least = (int32_t*)(void*)(tree->arrays + s->min_id_at[j]);
        for (int64_t i = 0; i < sap_level_groups(s, j) * SAP_GROUP; i++)
            if (least[i] != INT32_MAX) least[i] = level->rows[least[i]].id;
    }
}

sap_status sap_set_level_build(sap_device* device, sap_set_level* level, sap_set_merge* merge) {
    sap_device* searched_on = level->tree.device;
    sap_scratch rows = {NULL, 0};
    size_t bytes;
    if (!sap_size_multiply((uint64_t)(merge->points + merge->points / 8), sizeof(sap_set_row), &bytes) ||
        !sap_scratch_take(device, bytes + 1, &rows))
        return SAP_ERROR_MEMORY;
    merge->rows = (sap_set_row*)(void*)rows.memory;
    level->tree.device = device;
    const sap_status status = sap_tree_build_filled_cpu(&level->tree, merge->points, &(sap_filler){fill, merge});
    level->tree.device = searched_on;
    if (status != SAP_OK) {
        sap_scratch_give(device, &rows);
        return status;
    }
    sap_scratch_give(device, &level->memory);
    level->memory = rows;
    level->rows = merge->rows;
    level->live = level->tree.shape.count;
    level->first = level->live ? level->rows[0].id : 0;
    level->last = level->live ? level->rows[level->live - 1].id : -1;
    level->is_trimmed = false;
    name_points(level);
    if (merge->points > SCRATCH_KEPT) sap_scratch_trim(device);
    return SAP_OK;
}

// ---- Levels

int32_t sap_set_size_of(int64_t points) {
    int32_t size = 0;
    while (points >= (int64_t)SAP_SET_SMALLEST << SAP_SET_GROWTH_BITS * size) size++;
    return size;
}

sap_set_level* sap_set_level_create(sap_set* set) {
    if (set->spares) return set->spare[--set->spares];
    sap_set_level* level = sap_memory_allocate_zero(set->device, sizeof *level);
    if (!level) return NULL;
    level->tree.device = set->device;
    level->tree.options.leaf_size = SAP_LEAF_DEFAULT;
    level->tree.has_holes = true;
    level->tree.shape.dims = set->dims;
    level->tree.shape.real_bits = set->real_bits;
    return level;
}

void sap_set_level_free(const sap_set* set, sap_set_level* level) {
    sap_tree_memory_release(set->device, &level->tree.memory, &level->tree.arrays);
    sap_memory_release(set->device, level->memory.memory, level->memory.bytes);
    sap_memory_release(set->device, level, sizeof *level);
}

void sap_set_level_give(sap_set* set, sap_set_level* level) {
    level->is_merging = false;
    if (set->spares < SAP_SET_SPARES && level->tree.memory.allocated + level->memory.bytes <= SPARE_BYTES)
        set->spare[set->spares++] = level;
    else
        sap_set_level_free(set, level);
}

void sap_set_level_add(sap_set* set, sap_set_level* level) {
    int32_t at = set->levels++;
    SAP_ASSERT(set->levels <= SAP_SET_LEVELS);
    for (; at > 0 && set->level[at - 1]->live < level->live; at--) set->level[at] = set->level[at - 1];
    set->level[at] = level;
}

void sap_set_levels_drop(sap_set* set, const sap_set_merge* merged, const sap_set_level* kept) {
    int32_t left = 0;
    for (int32_t i = 0; i < set->levels; i++) {
        sap_set_level* level = set->level[i];
        bool goes = false;
        for (int32_t j = 0; j < merged->sources; j++) goes = goes || merged->source[j].level == level;
        if (!goes)
            set->level[left++] = level;
        else if (level != kept)
            sap_set_level_give(set, level);
    }
    set->levels = left;
}

// ---- Levels with many removed points

static bool is_worn(const sap_set_level* level) { return !level->is_merging && sap_set_level_is_thin(level); }

// Rebuilds a level with all that are not larger. False if there is no memory.
static bool renew(sap_set* set, sap_set_level* level) {
    sap_set_merge merge;
    sap_set_merge_begin(set, &merge);
    for (int32_t i = 0; i < set->levels; i++)
        if (!set->level[i]->is_merging && set->level[i]->tree.shape.count <= level->tree.shape.count)
            sap_set_merge_level(&merge, set->level[i]);
    if (merge.points > SAP_SET_BESIDE && set->in_background) {
        if (!set->worker && sap_set_worker_begin(set, &merge)) return true;
        if (set->worker) return false;
    }
    if (merge.points > 0 && sap_set_level_build(&set->quiet, level, &merge) != SAP_OK) return false;
    sap_set_levels_drop(set, &merge, merge.points > 0 ? level : NULL);
    if (merge.points > 0) sap_set_level_add(set, level);
    return true;
}

void sap_set_tidy(sap_set* set) {
    for (int32_t i = 0; i < set->levels;) {
        const bool is_tidy = is_worn(set->level[i]) && renew(set, set->level[i]);
        i = is_tidy ? 0 : i + 1;
    }
    set->is_thin = false;
    for (int32_t i = 0; i < set->levels; i++) set->is_thin = set->is_thin || sap_set_level_is_thin(set->level[i]);
}
