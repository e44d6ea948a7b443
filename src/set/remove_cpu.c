// Removing on the CPU: points are found by their ids, or lie on the wrong side of a box.
#include "set/set.h"

enum {
    GUESSES = 4,    // as if ids were evenly spread; then the middle is taken, so that no ids make it slow
    AHEAD_ROW = 16, // ids: where they may be is fetched from memory …
    AHEAD_SLOT = 8  // … and then their points
};

static int64_t guess(int64_t low, int64_t high, int64_t first, int64_t last, int64_t id) {
    if (last - first == high - low) return low + (id - first); // no gaps: no division to wait for
    return last > first ? low + (int64_t)((double)(id - first) * ((double)(high - low) / (double)(last - first))) : low;
}

int64_t sap_set_find(const sap_set_level* level, int32_t id) {
    const sap_set_row* rows = level->rows;
    int64_t low = 0, high = level->tree.shape.count - 1;
    int64_t first = level->first, last = level->last;
    for (int step = 0; id >= first && id <= last; step++) {
        const int64_t at = step < GUESSES ? guess(low, high, first, last, id) : low + (high - low) / 2;
        const int64_t found = rows[at].id;
        SAP_ASSERT(at >= low && at <= high);
        if (found == id) return at;
        if (found < id) {
            low = at + 1;
            first = found + 1;
        } else {
            high = at - 1;
            last = found - 1;
        }
        if (low > high) break;
    }
    return -1;
}

// The row of a point that was not removed by its id, and where the point lies; or NULL.
static sap_set_row* find_row(const sap_set_level* level, int32_t id, unsigned char** block, int64_t* slot) {
    const int64_t at = sap_set_find(level, id);
    if (at < 0 || level->rows[at].place == SAP_SET_GONE) return NULL;
    const uint32_t place = level->rows[at].place;
    *slot = place & ((1 << SAP_SET_PLACE_BITS) - 1);
    *block = sap_set_leaf(level, place >> SAP_SET_PLACE_BITS);
    return &level->rows[at];
}

// Where an id is in the block of the newest points, or -1.
static int32_t find_flat(const sap_set_flat* flat, int32_t id) {
    int32_t low = 0, high = flat->count;
    if (high == 0 || id < flat->ids[0] || id > flat->ids[high - 1]) return -1;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (flat->ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < flat->count && flat->ids[low] == id ? low : -1;
}

static bool is_point(const unsigned char* block, int64_t slot, int32_t real_bits) {
    return real_bits == 64 ? ((const double*)(const void*)block)[slot] < (double)__builtin_inff()
                           : ((const float*)(const void*)block)[slot] < __builtin_inff();
}

bool sap_set_holds(const sap_set* set, int32_t id) {
    const int32_t slot = find_flat(&set->flat, id);
    if (slot >= 0 && is_point(set->flat.block, slot, set->real_bits)) return true;
    for (int32_t i = 0; i < set->levels; i++) {
        int64_t at;
        unsigned char* block;
        if (find_row(set->level[i], id, &block, &at) && is_point(block, at, set->real_bits)) return true;
    }
    return false;
}

bool sap_set_level_remove(sap_set_level* level, int32_t id) {
    const int32_t real_bits = level->tree.shape.real_bits;
    int64_t slot;
    unsigned char* block;
    sap_set_row* row = find_row(level, id, &block, &slot);
    if (!row || (level->is_trimmed && !is_point(block, slot, real_bits))) return false;
    __atomic_store_n(&row->place, SAP_SET_GONE, __ATOMIC_RELAXED);
    sap_set_block_clear(block, slot, real_bits);
    level->live--;
    return true;
}

static bool remove_one(sap_set* set, int32_t id) {
    const int32_t slot = find_flat(&set->flat, id);
    if (slot >= 0 && sap_set_block_remove(set->flat.block, slot, set->real_bits)) {
        set->flat.live--;
        return true;
    }
    for (int32_t i = 0; i < set->levels; i++) {
        sap_set_level* level = set->level[i];
        if (id < level->first || id > level->last || !sap_set_level_remove(level, id)) continue;
        if (level->is_merging) sap_set_worker_note(set, id);
        set->is_thin = set->is_thin || sap_set_level_is_thin(level);
        return true;
    }
    return false;
}

// Fetches what removing an id will read: its row, or its point's slot.
static void fetch(const sap_set* set, int32_t id, bool slot) {
    for (int32_t i = 0; i < set->levels; i++) {
        const sap_set_level* level = set->level[i];
        if (id < level->first || id > level->last) continue;
        if (slot) {
            int64_t at;
            unsigned char* block;
            if (find_row(level, id, &block, &at))
                __builtin_prefetch(block + (size_t)at * ((size_t)set->real_bits / 8), 1);
        } else {
            __builtin_prefetch(level->rows + guess(0, level->tree.shape.count - 1, level->first, level->last, id));
        }
    }
}

// The removed points are gone from the count, and perhaps from memory.
static void settle(sap_set* set, int64_t removed) {
    set->live -= removed;
    SAP_ASSERT(set->live >= 0);
    if (set->flat.live == 0) sap_set_flat_clear(set);
    if (removed && set->is_thin) sap_set_tidy(set);
}

sap_status sap_set_remove_cpu(sap_set* set, const int32_t* ids, int64_t count, int64_t* removed) {
    if (set->worker) {
        sap_set_worker_end(set, false);
        sap_set_worker_expect(set, count);
    }
    for (int64_t i = 0; i < count; i++) {
        if (i + AHEAD_ROW < count) fetch(set, ids[i + AHEAD_ROW], false);
        if (i + AHEAD_SLOT < count) fetch(set, ids[i + AHEAD_SLOT], true);
        *removed += remove_one(set, ids[i]);
    }
    settle(set, *removed);
    return SAP_OK;
}

sap_status sap_set_trim_cpu(sap_set* set, const sap_set_box* box, int64_t* removed) {
    sap_set_worker_end(set, false);
    sap_set_worker_note_box(set, box);
    *removed = sap_set_flat_trim(set, box);
    for (int32_t i = 0; i < set->levels; i++) *removed += sap_set_level_trim(set->level[i], box);
    set->is_thin = true;
    settle(set, *removed);
    return SAP_OK;
}
