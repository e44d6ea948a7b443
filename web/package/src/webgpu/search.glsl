// Nearest neighbours, and the points within a radius, in WebGPU: a thread for each query. web/package/shaders.mjs makes
// WGSL of it.
//
// SAP_EXPLICIT  the tree is explicit; else it is balanced
// SAP_CAPACITY  neighbours that the list has room for; 0: points within the radius are counted; -1: they are listed
layout(local_size_x = 64) in;

#define SAP_NOTHING zero
#include "math/dialect.h"
layout(std140, binding = 2) uniform search {
    int queries;  // in this pass
    int across;   // threads in a row of workgroups
    int first;    // number of the first query
    int k;
    float limit2;
    int is_self;  // queries are the tree's points, by id, and do not find themselves
    uint zero;    // 0, which compilers do not know
};

#define SAP_AXES 3
#define SAP_STACK 96
#include "math/distance.h"
#include "tree/forms/buffer.h"

layout(std430, binding = 3) readonly buffer asked { float query[]; }; // [queries][dims]
layout(std430, binding = 4) buffer found { int ids[]; };              // rows of k, or the numbers of points
layout(std430, binding = 5) buffer apart { float distance2[]; };
#if SAP_CAPACITY < 0
layout(std430, binding = 6) readonly buffer begins { int offsets[]; }; // of the queries' rows
#include "nearest/candidates/candidates_listed.h"
#elif SAP_CAPACITY == 0
#include "nearest/candidates/candidates_count.h"
#else
#include "nearest/candidates/candidates.h"
#endif
#include "nearest/walk_result.h"
#include "tree/leaf.h"
#include "nearest/scan.h"
#include "nearest/bound.h"
#include "nearest/walk.h"

#ifdef SAP_EXPLICIT
#define WALK sap_nearest_stack
#else
#define WALK sap_nearest_stackless
#endif

void main() {
    int i = int(gl_GlobalInvocationID.y) * across + int(gl_GlobalInvocationID.x);
    if (i >= queries) return;
    sap_point at = sap_point_of(0.0f);
    for (int axis = 0; axis < tree_dims; ++axis) at.at[axis] = query[i * tree_dims + axis];
    sap_candidates list = sap_candidates_none(k, limit2);
#if SAP_CAPACITY < 0
    list.place = offsets[i];
#endif
    if (sap_point_finite(at) && tree_count > 0) list = WALK(at, is_self != 0 ? first + i : -1, list).list;
#if SAP_CAPACITY == 0
    ids[i] = list.count;
#elif SAP_CAPACITY > 0
    for (int place = 0; place < k; ++place) {
        int id = list.id[SAP_CAPACITY - k + place];
        ids[i * k + place] = id == SAP_NO_ID ? -1 : id;
        distance2[i * k + place] = id == SAP_NO_ID ? sap_float_of_bits(0x7f800000u) : list.distance2[SAP_CAPACITY - k + place];
    }
#endif
}
