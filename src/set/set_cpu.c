// What a set keeps on the CPU, from first to last: levels and the block of the newest points.
#include "set/set.h"
#include <string.h>

static size_t block_bytes(const sap_set* set) {
    return SAP_SET_FLAT * ((size_t)set->dims * (size_t)set->real_bits / 8 + sizeof(int32_t)) + SAP_ALIGNMENT;
}

// The device without log and progress, and without the scratch memory that it keeps.
static sap_device silent(const sap_device* device, int32_t threads) {
    sap_device copy = *device;
    copy.options.log = NULL;
    copy.options.progress = NULL;
    copy.options.threads = threads;
    copy.lock = copy.idle_end = 0;
    memset(copy.idle, 0, sizeof copy.idle);
    return copy;
}

sap_status sap_set_open_cpu(sap_set* set) {
    set->quiet = silent(set->device, set->device->options.threads);
    set->beside = silent(set->device, 1);
    set->flat.block = sap_memory_allocate_zero(set->device, block_bytes(set));
    if (!set->flat.block) return sap_fail(set->device, SAP_ERROR_MEMORY, "no memory for a set");
    set->flat.ids = (int32_t*)(void*)(set->flat.block + SAP_SET_FLAT * (size_t)set->dims * (size_t)set->real_bits / 8);
    set->flat.count = SAP_SET_FLAT;
    sap_set_flat_clear(set);
    return SAP_OK;
}

void sap_set_close_cpu(sap_set* set) {
    sap_set_worker_end(set, true);
    for (int32_t i = 0; i < set->levels; i++) sap_set_level_free(set, set->level[i]);
    for (int32_t i = 0; i < set->spares; i++) sap_set_level_free(set, set->spare[i]);
    sap_scratch_trim(&set->quiet);
    sap_scratch_trim(&set->beside);
    sap_memory_release(set->device, set->flat.block, block_bytes(set));
}

void sap_set_describe_cpu(const sap_set* set, sap_set_info* info) {
    info->removed = set->flat.count - set->flat.live;
    info->trees = set->levels;
    info->moving = set->worker != NULL;
    info->bytes += block_bytes(set) + sap_scratch_bytes((sap_device*)(uintptr_t)&set->quiet);
    for (int32_t i = 0; i < set->levels + set->spares; i++) {
        const sap_set_level* level = i < set->levels ? set->level[i] : set->spare[i - set->levels];
        info->bytes += sizeof *level + level->tree.memory.allocated + level->memory.bytes;
        if (i < set->levels) info->removed += level->tree.shape.count - level->live;
    }
}
