// Which cell of a balanced tree each query falls into.
#include "base/assert.h"
#include "math/simd.h"
#include "tree/queries.h"

static void find_cells(const sap_tree* tree, const void* queries, int64_t stride, int64_t count, int32_t depth,
                       uint32_t* cell) {
    enum { TOGETHER = 16 }; // queries that go down side by side, to hide the latency of each
    const real* split = (const real*)(const void*)(tree->arrays + tree->shape.split_at);
    const uint8_t* axis = tree->arrays + tree->shape.axis_at;
    for (int64_t first = 0; first < count; first += TOGETHER) {
        int n = count - first < TOGETHER ? (int)(count - first) : TOGETHER;
        const real* q = (const real*)queries + first * stride;
        uint32_t node[TOGETHER];
        for (int i = 0; i < n; i++) node[i] = 1;
        for (int level = 0; level < depth; level++)
            for (int i = 0; i < n; i++) node[i] = 2 * node[i] + (q[i * stride + axis[node[i]]] >= split[node[i]]);
        for (int i = 0; i < n; i++) {
            SAP_ASSERT(node[i] >> depth == 1);
            cell[first + i] = node[i] ^ (1u << depth);
        }
    }
}

const sap_query_kernels SAP_KERNEL(query_kernels) = {find_cells};
