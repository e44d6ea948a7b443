// Trees over triangles on CUDA devices: their memory, copies to and from the host, and the form that rays traverse
// (mesh/mesh_cuda.h).
#include "compact/prefix_sum_cuda.h"
#include "mesh/mesh_cuda.h"

enum { PACK_THREADS = 256, LEAF_BITS = 31 };

// A tree on the device. before[i] counts what precedes node i: inner nodes above LEAF_BITS, references below.
typedef struct pack_task {
    const sap_mesh_node* nodes;
    const int32_t *references, *ids;
    const float* corners;
    int64_t count; // of nodes
    int64_t* before;
    uint4* inner;
    float4* triangles;
} pack_task;

static __device__ __forceinline__ bool is_leaf(sap_mesh_node node) { return (node.link & 3) == SAP_MESH_LEAF; }

static __global__ void __launch_bounds__(PACK_THREADS) count_nodes(const __grid_constant__ pack_task task) {
    const int64_t i = (int64_t)blockIdx.x * PACK_THREADS + threadIdx.x;
    if (i >= task.count) return;
    const sap_mesh_node node = task.nodes[i];
    task.before[i + 1] = is_leaf(node) ? (int64_t)(node.link >> 2) : (int64_t)1 << LEAF_BITS;
}

static __device__ __forceinline__ uint32_t first_of(const pack_task& task, int64_t i) {
    return (uint32_t)task.before[i] & ((1u << LEAF_BITS) - 1);
}

static __device__ __forceinline__ uint32_t side_of(const pack_task& task, int64_t i) {
    const sap_mesh_node node = task.nodes[i];
    if (!is_leaf(node)) return (uint32_t)(task.before[i] >> LEAF_BITS);
    return node.link >> 2 ? SAP_MESH_SIDE_LEAF | first_of(task, i) : SAP_MESH_SIDE_EMPTY;
}

static __device__ void pack_leaf(const pack_task& task, int64_t i) {
    const sap_mesh_node node = task.nodes[i];
    const uint32_t count = node.link >> 2;
    float4* to = task.triangles + 3 * (size_t)first_of(task, i);
    SAP_ASSERT((int64_t)first_of(task, i) + count <= (task.before[i + 1] & ((1u << LEAF_BITS) - 1)));
    for (uint32_t j = 0; j < count; j++) {
        const uint32_t place = count == 1 ? node.bits : (uint32_t)task.references[node.bits + j];
        const float* v = task.corners + (size_t)place * SAP_TRIANGLE_FLOATS;
        const float id = sap_float_of_bits((uint32_t)task.ids[place] | (j + 1 == count ? SAP_MESH_LAST : 0));
        for (int axis = 0; axis < 3; axis++) *to++ = make_float4(v[axis], v[3 + axis], v[6 + axis], id);
    }
}

// One thread per node.
static __global__ void __launch_bounds__(PACK_THREADS) pack_nodes(const __grid_constant__ pack_task task) {
    const int64_t i = (int64_t)blockIdx.x * PACK_THREADS + threadIdx.x;
    if (i >= task.count) return;
    const sap_mesh_node node = task.nodes[i];
    if (is_leaf(node)) {
        pack_leaf(task, i);
    } else {
        task.inner[task.before[i] >> LEAF_BITS] =
            make_uint4(node.bits, side_of(task, i + 1), side_of(task, node.link >> 2), node.link & 3);
    }
}

// New memory of `need` bytes, or NULL if the present memory suffices.
static void* grow(sap_cuda_call* call, size_t have, size_t need) {
    return need > have ? sap_cuda_allocate(call, need) : NULL;
}

// Replaces the old memory if there is new memory.
static void* replace(sap_device* device, void* old, size_t* have, void* larger, size_t need) {
    if (!larger) return old;
    sap_cuda_release(device, old, *have);
    *have = need;
    return larger;
}

void sap_mesh_cuda_reserve(sap_cuda_call* call, sap_mesh_tree* tree, const sap_mesh_tree_shape* shape,
                           int64_t positions) {
    sap_device* device = tree->device;
    if (call->status != SAP_OK) return;
    if (!tree->beside) tree->beside = sap_memory_allocate_zero(device, sizeof(sap_mesh_cuda));
    if (!tree->beside) {
        call->status = sap_fail(device, SAP_ERROR_MEMORY, "no memory for a tree");
        return;
    }
    sap_mesh_cuda* beside = sap_mesh_cuda_of(tree);
    const int64_t inner = shape->nodes - shape->leaves;
    SAP_ASSERT(inner >= 0 && positions >= shape->references);
    const size_t bytes = shape->bytes + SAP_ALIGNMENT, node_bytes = (size_t)(inner ? inner : 1) * sizeof(uint4),
                 triangle_bytes = (size_t)(positions ? positions : 1) * 3 * sizeof(float4);
    void* arrays = grow(call, tree->memory.allocated, bytes);
    void* nodes = grow(call, beside->node_bytes, node_bytes);
    void* triangles = grow(call, beside->triangle_bytes, triangle_bytes);
    if (call->status != SAP_OK) {
        sap_cuda_release(device, arrays, bytes);
        sap_cuda_release(device, nodes, node_bytes);
        sap_cuda_release(device, triangles, triangle_bytes);
        return;
    }
    tree->arrays = (unsigned char*)replace(device, tree->arrays, &tree->memory.allocated, arrays, bytes);
    beside->nodes = (uint4*)replace(device, beside->nodes, &beside->node_bytes, nodes, node_bytes);
    beside->triangles = (float4*)replace(device, beside->triangles, &beside->triangle_bytes, triangles, triangle_bytes);
    beside->root = inner ? 0 : shape->references ? SAP_MESH_SIDE_LEAF : SAP_MESH_SIDE_EMPTY;
    tree->shape = *shape;
    call->reserved = true;
}

// Fills the form that rays traverse from the tree's arrays.
static void pack(sap_cuda_call* call, const sap_mesh_tree* tree) {
    const sap_mesh_tree_shape* s = &tree->shape;
    if (call->status != SAP_OK) return;
    pack_task task;
    task.nodes = (const sap_mesh_node*)(tree->arrays + s->node_at);
    task.references = (const int32_t*)(tree->arrays + s->reference_at);
    task.ids = (const int32_t*)(tree->arrays + s->id_at);
    task.corners = (const float*)(tree->arrays + s->corner_at);
    task.count = s->nodes;
    task.before = (int64_t*)sap_cuda_take(call, (size_t)(s->nodes + 1) * sizeof(int64_t));
    task.inner = sap_mesh_cuda_of(tree)->nodes;
    task.triangles = sap_mesh_cuda_of(tree)->triangles;
    const sap_cuda_grid grid = sap_cuda_grid_for(s->nodes, PACK_THREADS);
    sap_cuda_launch(call, count_nodes, grid, task);
    sap_prefix_sum_cuda(call, task.before, s->nodes);
    sap_cuda_launch(call, pack_nodes, grid, task);
}

sap_status sap_mesh_copy_in_cuda(sap_mesh_tree* tree, const unsigned char* arrays) {
    const sap_mesh_tree_shape shape = tree->shape;
    sap_cuda_call call;
    sap_cuda_begin(&call, tree->device);
    call.waits = true; // the caller may free the arrays right after the call
    sap_mesh_cuda_reserve(&call, tree, &shape, shape.references);
    sap_cuda_copy(&call, tree->arrays, arrays, shape.bytes);
    sap_cuda_fill(&call, tree->arrays + shape.bytes, 0, SAP_ALIGNMENT);
    pack(&call, tree);
    return sap_cuda_end(&call, SAP_OK);
}

sap_status sap_mesh_copy_out_cuda(const sap_mesh_tree* tree, void* to) {
    sap_cuda_call call;
    sap_cuda_begin(&call, tree->device);
    call.waits = true;
    sap_cuda_copy(&call, to, tree->arrays, tree->shape.bytes);
    return sap_cuda_end(&call, SAP_OK);
}

void sap_mesh_free_arrays_cuda(sap_mesh_tree* tree) {
    sap_mesh_cuda* beside = sap_mesh_cuda_of(tree);
    sap_cuda_release(tree->device, tree->arrays, tree->memory.allocated);
    tree->arrays = NULL;
    if (!beside) return;
    sap_cuda_release(tree->device, beside->nodes, beside->node_bytes);
    sap_cuda_release(tree->device, beside->triangles, beside->triangle_bytes);
    sap_memory_release(tree->device, beside, sizeof *beside);
    tree->beside = NULL;
}
