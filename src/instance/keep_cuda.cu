// Trees over instances on CUDA devices: they are made on the host, which takes microseconds for hundreds of instances,
// and go to the GPU in one copy.
#include "instance/instance_cuda.cuh"

// Fills what goes to the GPU.
static void fill(unsigned char* to, const sap_instance_made* made, size_t placed_at) {
    const size_t node_bytes = sap_instance_node_bytes(made);
    sap_placed_on_cuda* placed = (sap_placed_on_cuda*)(to + placed_at);
    if (made->filed) memcpy(to, made->nodes, node_bytes);
    memset(to + node_bytes, 0, placed_at - node_bytes);
    for (int64_t i = 0; i < made->count; i++) {
        memcpy(placed[i].inverse, made->placed[i].inverse, sizeof placed[i].inverse);
        placed[i].before = made->placed[i].before;
        placed[i].mesh = sap_mesh_on_cuda_of(made->placed[i].tree);
    }
}

// Gives the tree memory of the GPU, in its present memory if that suffices.
static void reserve(sap_cuda_call* call, sap_instance_tree* tree, size_t bytes) {
    if (bytes <= tree->memory.allocated) return;
    unsigned char* larger = (unsigned char*)sap_cuda_allocate(call, bytes);
    if (!larger) return;
    sap_cuda_release(tree->device, tree->arrays, tree->memory.allocated);
    tree->arrays = larger;
    tree->memory.allocated = bytes;
}

sap_status sap_instance_keep_cuda(sap_instance_tree* tree, const sap_instance_made* made) {
    const size_t placed_at = sap_align(sap_instance_node_bytes(made));
    const size_t bytes = placed_at + (size_t)made->count * sizeof(sap_placed_on_cuda);
    sap_scratch memory;
    if (!sap_scratch_take(tree->device, bytes, &memory))
        return sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory for a tree over %lld instances",
                        (long long)made->count);
    fill(memory.memory, made, placed_at);
    sap_cuda_call call;
    sap_cuda_begin(&call, tree->device);
    call.waits = true; // for the scratch memory
    reserve(&call, tree, bytes);
    if (bytes) sap_cuda_copy(&call, tree->arrays, memory.memory, bytes);
    const sap_status status = sap_cuda_end(&call, SAP_OK);
    sap_scratch_give(tree->device, &memory);
    if (status != SAP_OK) return status;
    tree->placed_at = placed_at;
    tree->bytes = bytes;
    return SAP_OK;
}

void sap_instance_free_arrays_cuda(sap_instance_tree* tree) {
    sap_cuda_release(tree->device, tree->arrays, tree->memory.allocated);
    tree->arrays = NULL;
}
