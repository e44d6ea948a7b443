// Points of a set where they lie: which precision's text is called.
#include "math/dialect.h"
#include "set/set.h"

#define SAP_SPECIAL_TEXT "set/points.h"
#include "math/specialise_real.h"

int64_t sap_set_copy(const sap_set_merge* merge, sap_set_source* source, int64_t until, void* coords, int32_t* ids,
                     int64_t pitch, int64_t at) {
    const int64_t end = merge->real_bits == 64 ? copy_f64(merge, source, until, coords, pitch, at)
                                               : copy_f32(merge, source, until, coords, pitch, at);
    for (int64_t i = at; i < end; i++) ids[i] = (int32_t)i;
    return end;
}

int64_t sap_set_bad_row(const sap_rows* rows) { return rows->real_bits == 64 ? bad_row_f64(rows) : bad_row_f32(rows); }

void sap_set_flat_put(sap_set* set, const sap_set_batch* batch) {
    SAP_ASSERT(set->flat.count + batch->rows.count <= SAP_SET_FLAT);
    if (set->real_bits == 64)
        flat_put_f64(set, batch);
    else
        flat_put_f32(set, batch);
    set->flat.live += (int32_t)batch->rows.count;
}

void sap_set_flat_pack(sap_set* set) {
    if (set->real_bits == 64)
        flat_pack_f64(set);
    else
        flat_pack_f32(set);
}

void sap_set_flat_clear(sap_set* set) {
    for (int32_t i = 0; i < set->flat.count; i++) sap_set_block_remove(set->flat.block, i, set->real_bits);
    set->flat.count = set->flat.live = 0;
}

bool sap_set_block_remove(unsigned char* block, int64_t slot, int32_t real_bits) {
    return real_bits == 64 ? remove_f64(block, slot) : remove_f32(block, slot);
}

void sap_set_block_clear(unsigned char* block, int64_t slot, int32_t real_bits) {
    if (real_bits == 64)
        clear_f64(block, slot);
    else
        clear_f32(block, slot);
}

int64_t sap_set_level_trim(sap_set_level* level, const sap_set_box* box) {
    const int64_t removed = level->tree.shape.real_bits == 64 ? trim_level_f64(level, box) : trim_level_f32(level, box);
    level->live -= removed;
    level->is_trimmed = level->is_trimmed || removed > 0;
    return removed;
}

int64_t sap_set_flat_trim(sap_set* set, const sap_set_box* box) {
    sap_set_flat* flat = &set->flat;
    const int64_t removed = set->real_bits == 64
                                ? trim_block_f64(flat->block, SAP_SET_FLAT, flat->count, box, set->dims)
                                : trim_block_f32(flat->block, SAP_SET_FLAT, flat->count, box, set->dims);
    flat->live -= (int32_t)removed;
    return removed;
}

int64_t sap_set_flat_hits(const sap_set* set, const void* query, double limit2, int32_t* ids, void* distance2) {
    return set->real_bits == 64 ? flat_hits_f64(set, query, limit2, ids, distance2)
                                : flat_hits_f32(set, query, limit2, ids, distance2);
}
