// Copies a tree on a GPU into buffers of OpenGL on the same GPU.
#include "tree/forms/textures_cuda.h"
#include "tree/tree_cuda.h"

#ifdef SAP_CUDA_ON_CPU

// The stand-in for CUDA shares nothing with OpenGL.
extern "C" sap_status sap_tree_to_buffers_cuda(const sap_tree* tree, const unsigned int buffers[SAP_TEXTURES],
                                               void* resources[SAP_TEXTURES]) {
    (void)tree;
    (void)buffers;
    (void)resources;
    return SAP_ERROR_UNSUPPORTED;
}

extern "C" void sap_buffers_forget_cuda(void* resources[SAP_TEXTURES]) { (void)resources; }

#else

// Of cuda_gl_interop.h, which asks for the headers of desktop OpenGL.
extern "C" cudaError_t cudaGraphicsGLRegisterBuffer(struct cudaGraphicsResource** resource, unsigned int buffer,
                                                    unsigned int flags);

enum { THREADS = 256 };

// One thread for each node, leaves included, from the tree's walk boxes.
static __global__ void __launch_bounds__(THREADS)
    pack(sap_tree tree, const float* walk, unsigned int* nodes, int* smallest, float* boxes) {
    const sap_tree_shape* s = &tree.shape;
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const int reals = sap_walk_box_reals(s->dims, 32);
    if (i >= 2 * s->leaves) return;
    const float* box = walk + i * reals;
    smallest[i] = i == 0 ? INT_MAX : *(const int*)(box + 2 * s->dims);
    if (i < s->nodes) {
        nodes[2 * i] = ((const unsigned int*)(tree.arrays + s->split_at))[i];
        nodes[2 * i + 1] = (tree.arrays + s->axis_at)[i];
    }
    float* to = boxes + i * 4 * (s->dims - 1);
    const int upper = s->dims == 2 ? 2 : 4;
    for (int a = 0; a < s->dims; a++) {
        to[a] = i == 0 ? 0.0f : box[2 * a];
        to[upper + a] = i == 0 ? 0.0f : box[2 * a + 1];
    }
}

static bool map(sap_cuda_call* call, const unsigned int buffers[SAP_TEXTURES], void* resources[SAP_TEXTURES],
                void* memory[SAP_TEXTURES]) {
    for (int i = 0; i < SAP_TEXTURES; i++) {
        if (resources[i]) continue;
        cudaGraphicsResource* resource = NULL;
        if (cudaGraphicsGLRegisterBuffer(&resource, buffers[i], cudaGraphicsRegisterFlagsWriteDiscard) != cudaSuccess)
            return false;
        resources[i] = resource;
    }
    cudaGraphicsResource** all = (cudaGraphicsResource**)resources;
    if (cudaGraphicsMapResources(SAP_TEXTURES, all, call->cuda->stream) != cudaSuccess) return false;
    bool mapped = true;
    for (int i = 0; i < SAP_TEXTURES && mapped; i++) {
        size_t bytes = 0;
        mapped = cudaGraphicsResourceGetMappedPointer(&memory[i], &bytes, all[i]) == cudaSuccess;
    }
    if (!mapped) (void)cudaGraphicsUnmapResources(SAP_TEXTURES, all, call->cuda->stream);
    return mapped;
}

extern "C" sap_status sap_tree_to_buffers_cuda(const sap_tree* tree, const unsigned int buffers[SAP_TEXTURES],
                                               void* resources[SAP_TEXTURES]) {
    sap_cuda_call call;
    void* memory[SAP_TEXTURES];
    const sap_tree_shape* s = &tree->shape;
    sap_status shared = SAP_OK;
    if (sap_cuda_begin(&call, tree->device) == SAP_OK) {
        if (map(&call, buffers, resources, memory)) {
            sap_cuda_launch(&call, pack, sap_cuda_grid_for(2 * s->leaves, THREADS), *tree,
                            (const float*)sap_cuda_tree_of(tree)->boxes, (unsigned int*)memory[SAP_TEXTURE_NODES],
                            (int*)memory[SAP_TEXTURE_SMALLEST], (float*)memory[SAP_TEXTURE_BOXES]);
            sap_cuda_copy(&call, memory[SAP_TEXTURE_BLOCKS], tree->arrays + s->block_at,
                          (size_t)s->slots * (size_t)(s->dims + 1) * 4);
            sap_cuda_expect(
                &call, cudaGraphicsUnmapResources(SAP_TEXTURES, (cudaGraphicsResource**)resources, call.cuda->stream),
                "handing a tree over to OpenGL");
        } else {
            (void)cudaGetLastError(); // clears the error, which is not sticky
            shared = SAP_ERROR_UNSUPPORTED;
        }
    }
    sap_status status = sap_cuda_end(&call, SAP_OK);
    return status == SAP_OK ? shared : status;
}

extern "C" void sap_buffers_forget_cuda(void* resources[SAP_TEXTURES]) {
    for (int i = 0; i < SAP_TEXTURES; i++) {
        if (resources[i]) (void)cudaGraphicsUnregisterResource((cudaGraphicsResource*)resources[i]);
        resources[i] = NULL;
    }
}

#endif
