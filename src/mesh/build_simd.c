// The inner loops of the builders over triangles, for each instruction set. Trees are of floats: nothing is compiled
// for doubles.
#include "device/cpu_kernels.h"
#include <float.h>
#include <math.h>

#if SAP_REAL_BITS == 32

#include "math/simd.h"

#define SAP_TO_FLOAT(x) ((float)(x))
#include "math/dialect.h"

#include "math/sah.h"
#include "mesh/planes.h"

#include "mesh/small_fast_simd.h"

// A large node of the subtree that waits.
typedef struct waiting_node {
    sap_mesh_job job;
    int64_t parent;
} waiting_node;

static void large_leaf(sap_mesh_workshop* w, const sap_mesh_part* parts, int64_t count, int32_t depth) {
    int32_t* place = put_leaf(w, count, depth);
    for (int64_t i = 0; i < count; i++) place[i] = parts[i].triangle;
}

static void small_subtree(const sap_mesh_rules* rules, const sap_mesh_part* parts, const sap_mesh_job* job,
                          sap_mesh_workshop* w) {
    if (rules->fast && job->count > 0)
        small_fast(rules, parts, job, w);
    else
        small_high(rules, parts, job, w);
}

// Parts of the nodes that wait lie one behind the other; what lies behind the topmost node is free.
static void subtree(const sap_mesh_rules* rules, const sap_mesh_part* parts, const sap_mesh_job* job,
                    sap_mesh_workshop* w) {
    waiting_node stack[SAP_MESH_DEPTH_MAX + 2];
    int waiting = 0;
    stack[waiting++] = (waiting_node){*job, NO_PARENT};
    stack[0].job.first = 0;
    memcpy(w->parts, parts, (size_t)job->count * sizeof *parts);
    w->node_count = w->reference_count = w->pending_nodes = w->pending_references = 0;
    w->leaves = (sap_mesh_leaves){0};
    note_waiting(w, 1, job->count);
    while (waiting > 0) {
        waiting_node node = stack[--waiting];
        const sap_mesh_part* own = w->parts + node.job.first;
        int64_t count = node.job.count, free_at = node.job.first + count;
        note_waiting(w, -1, -count);
        arrive(w, node.parent);
        sap_mesh_split split = {.axis = -1};
        bool small = count <= rules->small_node;
        if (!small) split = find(rules, own, &node.job, w->events);
        if (small && rules->fast && count > 0 && node.job.depth < rules->depth) cut_empty(rules, &node.job, &split);
        if (split.axis < 0 || !may_split(rules, w, split.left, split.right) ||
            free_at + split.left + split.right > rules->staged) {
            if (small)
                small_subtree(rules, own, &node.job, w);
            else
                large_leaf(w, own, count, node.job.depth);
            continue;
        }
        waiting_node left = {.parent = NO_PARENT}, right = {.parent = put_inner(w, split.axis, split.plane)};
        right.job.first = free_at;
        left.job.first = free_at + split.right;
        divide(rules, own, &node.job, &split, w->parts + left.job.first, w->parts + right.job.first, &left.job,
               &right.job);
        note_waiting(w, 2, left.job.count + right.job.count);
        stack[waiting++] = right;
        stack[waiting++] = left;
    }
}

#if SAP_SIMD == 1
const sap_mesh_kernels sap_mesh_kernels_portable = {find, divide, subtree};
#elif SAP_SIMD == 2
const sap_mesh_kernels sap_mesh_kernels_avx2 = {find, divide, subtree};
#else
const sap_mesh_kernels sap_mesh_kernels_avx512 = {find, divide, subtree};
#endif

#endif
