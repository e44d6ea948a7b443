// The box-search kernels of the CPU and their arguments; there is one set for each instruction set and precision.
#ifndef SAPWOOD_BOX_BOX_H
#define SAPWOOD_BOX_BOX_H

#include "radius/hits_cpu.h"
#include "tree/layout.h"

// A run of boxes for one thread.
typedef struct sap_box_run {
    sap_hits_run hits; // first: searches are handed this member
    const sap_tree* tree;
    const void* lower; // real[count][lower_stride], in the order of the run
    const void* upper; // real[][upper_stride], by the answer's row
    int64_t lower_stride, upper_stride;
} sap_box_run;

typedef struct sap_box_kernels {
    sap_hits_search* search; // of a sap_box_run, in a balanced tree
} sap_box_kernels;

// ---- box/walk_cpu.c: the same on any tree, through the shared text.
void sap_box_walk_cpu(sap_hits_run* hits);

// How many points lie in a box. The ids of the first `room` of them go to ids[], in the tree's own order.
typedef int32_t (*sap_box_answer)(const sap_tree* tree, const void* lower, const void* upper, int32_t room,
                                  int32_t* ids);
// ---- box/walk_around_cpu.c: the walk for trees with periods.
sap_box_answer sap_box_answer_choose_around(const sap_tree_shape* shape);

// ---- box/periodic_cpu.c: boxes about trees with periods.
// The corners of a job's boxes as the search below takes them: within the periods, with the lower side above the upper
// one where a box leads around; NaN where it holds no point, whatever the points.
typedef struct sap_box_corners {
    sap_rows lower, upper;
    sap_scratch scratch;
    double one[2 * SAP_MAX_DIMS]; // of a single box: it allocates nothing
} sap_box_corners;
// Errors: SAP_ERROR_MEMORY. *made must stay where it is until its scratch memory is given back.
sap_status sap_box_corners_make(const sap_tree* tree, const sap_rows* lower, const sap_rows* upper,
                                sap_box_corners* made);
// A run of such boxes in a balanced tree: those that lead around through the shared text.
void sap_box_search_periodic(sap_hits_run* hits);

#endif
