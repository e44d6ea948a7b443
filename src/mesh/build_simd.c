// The inner loops of the builders over triangles, for each instruction set. Trees are of floats: nothing is compiled
// for doubles.
#include <float.h>
#include <math.h>

#if SAP_REAL_BITS == 32

#include "math/simd.h"
#include "mesh/build.h"

#define SAP_TO_FLOAT(x) ((float)(x))
#include "math/dialect.h"

#include "math/sah.h"
#include "mesh/planes.h"

#include "mesh/small/fast_simd.h"

// A node of the subtree that waits.
typedef struct waiting_node {
    sap_mesh_job job;
    int64_t parent;
} waiting_node;

static void large_leaf(sap_mesh_staging* staging, const sap_mesh_part* parts, int64_t count, int32_t depth) {
    int32_t* place = put_leaf(staging, count, depth);
    for (int64_t i = 0; i < count; i++) place[i] = parts[i].triangle;
}

static void small_subtree(const sap_mesh_rules* rules, const sap_mesh_part* parts, const sap_mesh_job* job,
                          sap_mesh_staging* staging) {
    SAP_ASSERT(job->count <= SAP_MESH_SMALL && job->count <= job->most);
    staging->spare = sap_spare_at_first(job->most, job->count);
    if (rules->fast && job->count > 0)
        small_fast(rules, parts, job, staging);
    else
        small_high(rules, parts, job, staging);
}

// Moves the parts of the waiting nodes together, to make room for those of the topmost node's sides.
static void squeeze(sap_mesh_part* parts, waiting_node* stack, int waiting) {
    int64_t used = 0;
    for (int i = 0; i < waiting; i++) {
        SAP_ASSERT(stack[i].job.count == 0 || stack[i].job.first >= used);
        memmove(parts + used, parts + stack[i].job.first, (size_t)stack[i].job.count * sizeof *parts);
        stack[i].job.first = used;
        used += stack[i].job.count;
    }
}

// Divides the topmost node. The parts of its sides go behind its own, where the memory is free.
static void divide_topmost(const sap_mesh_rules* rules, const sap_mesh_split* split, waiting_node* stack, int* waiting,
                           sap_mesh_staging* staging) {
    if (stack[*waiting - 1].job.first + stack[*waiting - 1].job.count + split->left + split->right > rules->part_room)
        squeeze(staging->parts, stack, *waiting);
    SAP_ASSERT(*waiting > 0 && *waiting < SAP_MESH_DEPTH_MAX + 2);
    SAP_ASSERT(stack[*waiting - 1].job.first + stack[*waiting - 1].job.count + split->left + split->right <=
               rules->part_room);
    const sap_mesh_job job = stack[--*waiting].job;
    waiting_node left = {.parent = NO_PARENT}, right = {.parent = put_inner(staging, split->axis, split->plane)};
    if (split->left == 0 || split->right == 0) {
        left.job = right.job = job;
        share_out(&job, split, split->left, split->right, &left.job, &right.job);
    } else {
        right.job.first = job.first + job.count;
        left.job.first = right.job.first + split->right;
        divide(rules, staging->parts + job.first, &job, split, staging->parts + left.job.first,
               staging->parts + right.job.first, &left.job, &right.job);
    }
    stack[(*waiting)++] = right;
    stack[(*waiting)++] = left;
}

// The parts of the waiting nodes are stored in stack order; the memory behind the topmost node's parts is free.
static void subtree(const sap_mesh_rules* rules, const sap_mesh_part* parts, const sap_mesh_job* job,
                    sap_mesh_staging* staging) {
    waiting_node stack[SAP_MESH_DEPTH_MAX + 2];
    int waiting = 0;
    SAP_ASSERT(job->count <= SAP_MESH_SUBTREE);
    stack[waiting++] = (waiting_node){*job, NO_PARENT};
    stack[0].job.first = 0;
    memcpy(staging->parts, parts, (size_t)job->count * sizeof *parts);
    staging->node_count = staging->reference_count = 0;
    staging->leaves = (sap_mesh_leaves){0};
    while (waiting > 0) {
        const waiting_node* node = &stack[waiting - 1];
        const sap_mesh_part* own = staging->parts + node->job.first;
        const bool small = node->job.count <= rules->small_node;
        arrive(staging, node->parent);
        const sap_mesh_split split =
            small ? empty_side(rules, &node->job) : find(rules, own, &node->job, staging->events);
        if (split.axis >= 0) {
            divide_topmost(rules, &split, stack, &waiting, staging);
            continue;
        }
        waiting--;
        if (small)
            small_subtree(rules, own, &node->job, staging);
        else
            large_leaf(staging, own, node->job.count, node->job.depth);
    }
    SAP_ASSERT(staging->node_count == 2 * staging->leaves.count - 1 && staging->node_count <= 2 * rules->staged);
    SAP_ASSERT(staging->reference_count <= rules->staged);
    SAP_ASSERT(staging->reference_count + staging->leaves.empty <= (job->most > 0 ? job->most : 1));
}

const sap_mesh_kernels SAP_KERNEL_OF_FLOAT(mesh_kernels) = {find, divide, subtree};

#endif
