// Alignment: the points of a source beside what each is paired with, the loops over them, and what a processor has to do.
#ifndef SAPWOOD_CLOUD_ALIGN_H
#define SAPWOOD_CLOUD_ALIGN_H

#include "cloud/axes.h"
#include "cloud/ops.h"
#include "cloud/rigid.h"

// A search goes so much farther than pairs may, so that points may move before it is made again.
#define SAP_ALIGN_RESERVE 1.25

enum {
    SAP_ALIGN_BLOCK = 512, // points whose sums are one: what a block is depends on nothing else
    SAP_ALIGN_LANES = 8,   // sums of a block, which are then added in order; whatever the vectors of the machine
    SAP_ALIGN_SUMS = 32,
    SAP_ALIGN_NEAR = 8 // points that are kept for each of the source's: one of them stays the nearest for a while
};

// What stands where in the sums of a block, and in all of them.
enum {
    SAP_ALIGN_PAIRS = 0,    // pairs that count
    SAP_ALIGN_WEIGHT = 1,   // their weights
    SAP_ALIGN_SQUARES = 2,  // their squared distances
    SAP_ALIGN_OWN = 3,      // POINT: weight * u, u being the source's point from the middle
    SAP_ALIGN_OTHER = 6,    // POINT: weight * v, v being the target's point from there
    SAP_ALIGN_PRODUCTS = 9, // POINT: weight * u v^T, row by row
    SAP_ALIGN_MATRIX = 3,   // else: the upper triangle of weight * J^T M J, row by row
    SAP_ALIGN_RIGHT = 24    // else: weight * J^T M r
};

// The source's points in an order in which neighbours stand side by side, those of coarse levels first; [padded] each.
// What is real has the target's precision.
typedef struct sap_align_points {
    int64_t count, padded; // padded: a multiple of the lanes
    double* own[3];        // the point, from the middle of the box
    int32_t* ids;          // its row in the source
    int32_t* pairs;        // the id of its nearest point, -1: none that counts
    void* other[3];        // real: that point
    void* asked[3];        // real: where the source's point was when it was last looked at closely
    void* reach;           // real: all but the nearest were at least as far then; 0: not known. Of a mesh: above 0
                           // where `pairs` holds for where the point was asked
    int32_t* near; // [padded][SAP_ALIGN_NEAR] the ids of those near it at the last search, -1 where there are no more
    void* near_asked;                         // real[padded][3]: where it was then
    void* near_reach;                         // real: all others were at least as far then; 0: not known
    float *own_normals[3], *other_normals[3]; // of length 1, or 0; NULL where nobody needs them
    double* distance2;                        // of each pair
    double* residual2;                        // of each pair, by the method; NULL without a kernel
    float* counts;                            // 1 for pairs that count, else 0
} sap_align_points;

// What a pair must be, and what it weighs.
typedef struct sap_align_rule {
    sap_align_method method;
    sap_align_kernel kernel;
    double limit2;          // largest squared distance of a pair that counts
    double scale2;          // of the kernel, squared
    double cosine;          // least of normals; negative: not asked for
    double stiff, flatness; // GENERALISED: (1 + flatness) / (1 - flatness)
    double size;            // lengths are divided by it
} sap_align_rule;

typedef struct sap_aligning sap_aligning;

typedef struct sap_align_kernels {
    // Of the points from `from` on (a multiple of the lanes) to `to`: where they are now, and which of those near them is
    // now the nearest. Where another one may be, a search is needed: queries, real[][3], and places, one after another.
    // Gives how many.
    int64_t (*look)(sap_aligning* a, int64_t from, int64_t to, void* queries, int32_t* places);
    // distance2, residual2 and counts.
    void (*measure)(sap_align_points* points, const sap_pose* pose, const sap_align_rule* rule, int64_t from,
                    int64_t to);
    // The sums of a block. `matrix`: those of J^T M J, also for points.
    void (*add)(const sap_align_points* points, const sap_pose* pose, const sap_align_rule* rule, bool matrix,
                int64_t from, int64_t to, double sums[SAP_ALIGN_SUMS]);
} sap_align_kernels;

// What a processor does with the points of an alignment.
typedef struct sap_align_ops {
    bool is_apart; // from the host's memory: of the arrays there, only what is chosen by size is filled in
    // Brings the points and the target to where steps are made; `end` also follows if that failed, or was not reached.
    sap_status (*begin)(sap_aligning* a);
    void (*end)(sap_aligning* a);
    // Finds the nearest points of the first `count` points, at the pose, where they may have changed.
    sap_status (*match)(sap_aligning* a, int64_t count);
    // Which pairs count, the rule's scale2, and the overlap that was found.
    sap_status (*judge)(sap_aligning* a, int64_t count);
    // The sums over the first `count` points.
    sap_status (*add)(sap_aligning* a, int64_t count, bool matrix, double sums[SAP_ALIGN_SUMS]);
} sap_align_ops;

// One alignment.
struct sap_aligning {
    sap_align_job* job;
    const sap_align_ops* ops;
    const sap_align_kernels* kernels; // of a CPU
    sap_scratch target_memory;        // of a CPU
    void* there;                      // of other processors: what lies in their memory
    sap_device* device;
    int32_t threads, real_bits;
    int32_t neighbors; // that a search looks for: 1, or SAP_ALIGN_NEAR where the next step is short enough for them
    double gap;        // half of what the last of those is farther than the first, in the middle; negative: not known
    double last_move;  // the longest way of a corner of the source's box in the last step
    sap_align_points points;
    sap_align_rule rule;
    sap_pose pose;
    double middle[3], half[3];   // of the source's box
    const void* target_points;   // real[source_count][4] of a tree, by id
    const float* target_normals; // by id, or by triangle
    void* queries;               // real[padded][3]
    int32_t *places, *found;     // [padded], [SAP_ALIGN_NEAR * padded]
    void* found2;                // real[SAP_ALIGN_NEAR * padded]
    sap_closest* closest;        // [padded], of a mesh
    float* known;                // [padded][3], of a mesh: the nearest points of the step before, or NaN
    int64_t* listed;             // [blocks]
    double* sums;                // [blocks * SAP_ALIGN_SUMS]
    uint32_t *keys, *spare_keys; // [padded], for what is chosen by size
    uint32_t* numbers;           // [2 * padded], beside them where they are sorted
    uint32_t nearest_key;        // that still counts when trimmed
    int32_t* owners;             // one_to_one: by id or triangle, the place of the source's point that has it
};

// Those of a CPU.
extern const sap_align_ops sap_align_ops_cpu;

// Aligns by a processor's ops, which find what they keep at `there`.
sap_status sap_align_run(sap_align_job* job, const sap_align_ops* ops, void* there);
// On a CPU: of the pairs that count by their distances and normals, those that count; the rule's scale2, and the overlap
// that was found.
void sap_align_choose(sap_aligning* a, int64_t count);
// Whether the options ask for that at all.
bool sap_align_chooses(const sap_align_options* options);
// Sets the rule's scale2 by the middle one of the squares of residuals, 0 if there are none.
void sap_align_set_scale(sap_aligning* a, double middle);
static inline int64_t sap_align_blocks(int64_t count) { return (count + SAP_ALIGN_BLOCK - 1) / SAP_ALIGN_BLOCK; }

// Pairs a place with a point of the target, real point[3], and its normal; id -1: with none.
void sap_align_pair(sap_aligning* a, int64_t place, int32_t id, const void* point);

// The normal of a triangle, of length 1 or 0, from its three corners. Shared text.
SAP_FN void sap_triangle_normal(const float* corners, float* normal) {
    const sap_place3 u = {(double)corners[3] - (double)corners[0], (double)corners[4] - (double)corners[1],
                          (double)corners[5] - (double)corners[2]};
    const sap_place3 v = {(double)corners[6] - (double)corners[0], (double)corners[7] - (double)corners[1],
                          (double)corners[8] - (double)corners[2]};
    const sap_place3 n = sap_cross3(u, v);
    const double length = sqrt(sap_dot3(n, n));
    normal[0] = length > 0 ? (float)(n.x / length) : 0.0f;
    normal[1] = length > 0 ? (float)(n.y / length) : 0.0f;
    normal[2] = length > 0 ? (float)(n.z / length) : 0.0f;
}

// Writes a normal, of length 1 or 0, to a place.
void sap_align_take_normal(float* const to[3], int64_t place, const float from[3]);

#endif
