// Trees over triangles on CUDA devices: their memory, and the way to and from the host.
#include "device/cuda_rooms.h"
#include "mesh/mesh_cuda.h"

enum { PACK_THREADS = 256 };

// One thread a triangle.
static __global__ void __launch_bounds__(PACK_THREADS)
    pack_triangles(const float* corners, const int32_t* ids, int64_t count, float4* to) {
    const int64_t i = (int64_t)blockIdx.x * PACK_THREADS + threadIdx.x;
    if (i >= count) return;
    const float* v = corners + i * SAP_TRIANGLE_FLOATS;
    const float id = __int_as_float(ids[i]);
    for (int corner = 0; corner < 3; corner++, v += 3) to[3 * i + corner] = make_float4(v[0], v[1], v[2], id);
}

void sap_mesh_cuda_reserve(sap_cuda_call* call, sap_mesh_tree* tree, const sap_mesh_tree_shape* shape) {
    if (call->status != SAP_OK) return;
    if (!tree->beside) tree->beside = sap_memory_allocate_zero(tree->device, sizeof(sap_mesh_cuda));
    if (!tree->beside) {
        call->status = sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory for a tree");
        return;
    }
    sap_mesh_cuda* beside = sap_mesh_cuda_of(tree);
    const size_t need = shape->bytes + SAP_ALIGNMENT, packed = (size_t)shape->triangles * 3 * sizeof(float4);
    void *arrays = NULL, *triangles = NULL;
    if (need > tree->memory.allocated) arrays = sap_cuda_allocate(call, need);
    if (packed > beside->bytes) triangles = sap_cuda_allocate(call, packed);
    if (call->status != SAP_OK) {
        sap_cuda_release(tree->device, arrays, need);
        sap_cuda_release(tree->device, triangles, packed);
        return;
    }
    if (arrays) {
        sap_cuda_release(tree->device, tree->arrays, tree->memory.allocated);
        tree->arrays = (unsigned char*)arrays;
        tree->memory.allocated = need;
    }
    if (triangles) {
        sap_cuda_release(tree->device, beside->triangles, beside->bytes);
        beside->triangles = (float4*)triangles;
        beside->bytes = packed;
    }
    tree->shape = *shape;
    call->reserved = true;
}

sap_status sap_mesh_make_cuda(sap_mesh_tree* tree, const unsigned char* arrays) {
    const sap_mesh_tree_shape shape = tree->shape;
    sap_cuda_call call;
    sap_cuda_begin(&call, tree->device);
    call.waits = true; // the arrays may be gone right after the call
    sap_mesh_cuda_reserve(&call, tree, &shape);
    if (call.status == SAP_OK) {
        sap_cuda_copy(&call, tree->arrays, arrays, shape.bytes);
        sap_cuda_fill(&call, tree->arrays + shape.bytes, 0, SAP_ALIGNMENT);
        sap_cuda_launch(&call, pack_triangles, sap_cuda_grid_for(shape.triangles, PACK_THREADS),
                        (const float*)(tree->arrays + shape.corner_at), (const int32_t*)(tree->arrays + shape.id_at),
                        shape.triangles, sap_mesh_cuda_of(tree)->triangles);
    }
    return sap_cuda_end(&call, SAP_OK);
}

sap_status sap_mesh_read_cuda(const sap_mesh_tree* tree, void* to) {
    sap_cuda_call call;
    sap_cuda_begin(&call, tree->device);
    call.waits = true;
    sap_cuda_copy(&call, to, tree->arrays, tree->shape.bytes);
    return sap_cuda_end(&call, SAP_OK);
}

void sap_mesh_unmake_cuda(sap_mesh_tree* tree) {
    sap_mesh_cuda* beside = sap_mesh_cuda_of(tree);
    sap_cuda_release(tree->device, tree->arrays, tree->memory.allocated);
    tree->arrays = NULL;
    if (!beside) return;
    sap_cuda_release(tree->device, beside->triangles, beside->bytes);
    sap_memory_release(tree->device, beside, sizeof *beside);
    tree->beside = NULL;
}
