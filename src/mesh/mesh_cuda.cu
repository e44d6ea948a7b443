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

sap_status sap_mesh_make_cuda(sap_mesh_tree* tree, const unsigned char* arrays) {
    const sap_mesh_tree_shape* s = &tree->shape;
    const size_t bytes = s->bytes + SAP_ALIGNMENT;
    sap_cuda_call call;
    sap_cuda_begin(&call, tree->device);
    call.waits = true; // the arrays may be gone right after the call
    sap_mesh_cuda* beside = (sap_mesh_cuda*)sap_memory_allocate_zero(tree->device, sizeof *beside);
    if (!beside && call.status == SAP_OK)
        call.status = sap_fail(tree->device, SAP_ERROR_MEMORY, "no memory for a tree");
    if (beside) {
        tree->beside = beside;
        tree->arrays = (unsigned char*)sap_cuda_allocate(&call, bytes);
        tree->memory.allocated = bytes;
        beside->bytes = (size_t)s->triangles * 3 * sizeof(float4);
        beside->triangles = (float4*)sap_cuda_allocate(&call, beside->bytes);
    }
    if (call.status == SAP_OK) {
        sap_cuda_copy(&call, tree->arrays, arrays, s->bytes);
        sap_cuda_fill(&call, tree->arrays + s->bytes, 0, SAP_ALIGNMENT);
        sap_cuda_launch(&call, pack_triangles, sap_cuda_grid_for(s->triangles, PACK_THREADS),
                        (const float*)(tree->arrays + s->corner_at), (const int32_t*)(tree->arrays + s->id_at),
                        s->triangles, beside->triangles);
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
    sap_mesh_cuda* beside = (sap_mesh_cuda*)tree->beside;
    sap_cuda_release(tree->device, tree->arrays, tree->memory.allocated);
    tree->arrays = NULL;
    if (!beside) return;
    sap_cuda_release(tree->device, beside->triangles, beside->bytes);
    sap_memory_release(tree->device, beside, sizeof *beside);
    tree->beside = NULL;
}
