#include "device/cpu.h"
#include "tree/explicit/groups.h"

void sap_groups_free(sap_tree* tree) {
    sap_groups* groups = tree->beside;
    if (!groups) return;
    sap_scratch memory = groups->memory; // which the groups lie in too
    sap_memory_release(tree->device, memory.memory, memory.bytes);
    tree->beside = NULL;
}

// Makes room for `count` groups, in the memory of those before where it is enough. False if there is none.
static bool reserve(sap_tree* tree, int64_t count) {
    const sap_tree_shape* s = &tree->shape;
    const size_t header = sap_align(sizeof(sap_groups)), ids = sap_align((size_t)count * SAP_GROUP * 4),
                 boxes = sap_align((size_t)count * SAP_GROUP * 2 * (size_t)s->dims * sap_real_bytes(s)),
                 bytes = header + boxes + 3 * ids;
    sap_groups* groups = tree->beside;
    sap_scratch memory = groups ? groups->memory : (sap_scratch){NULL, 0};
    if (!memory.memory || memory.bytes < bytes) {
        sap_groups_free(tree);
        memory = (sap_scratch){sap_memory_allocate(tree->device, bytes + bytes / 8), bytes + bytes / 8};
        if (!memory.memory) return false;
    }
    groups = (sap_groups*)(void*)memory.memory;
    *groups = (sap_groups){.count = count,
                           .boxes = memory.memory + header,
                           .min_ids = (int32_t*)(void*)(memory.memory + header + boxes),
                           .next = (uint32_t*)(void*)(memory.memory + header + boxes + ids),
                           .points = (int32_t*)(void*)(memory.memory + header + boxes + 2 * ids),
                           .memory = memory};
    tree->beside = groups;
    return true;
}

static bool make(sap_tree* tree, const sap_groups_kernels* kernels) {
    const sap_tree_shape* s = &tree->shape;
    sap_scratch corners = {NULL, 0};
    if (!sap_scratch_take(tree->device, (size_t)s->nodes * 2 * (size_t)s->dims * sap_real_bytes(s), &corners))
        return false;
    const bool made = reserve(tree, kernels->count(tree));
    if (made) kernels->fill(tree, tree->beside, corners.memory);
    sap_scratch_give(tree->device, &corners);
    return made;
}

void sap_groups_make(sap_tree* tree) {
    const sap_tree_shape* s = &tree->shape;
    const sap_groups_kernels* kernels = sap_cpu_kernels_of(tree->device, s->real_bits)->groups;
    const bool wanted = kernels && s->kind == SAP_TREE_EXPLICIT && s->count > 0;
    if (!wanted || !make(tree, kernels)) sap_groups_free(tree);
}

void sap_tree_free_arrays_cpu(sap_tree* tree) {
    sap_groups_free(tree);
    sap_tree_memory_release(tree->device, &tree->memory, &tree->arrays);
}
