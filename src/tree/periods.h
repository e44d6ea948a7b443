// Periodic axes (sap_tree_options.period): points and queries are wrapped into [0, period) before any code sees them
// that knows trees. What is said here is said once, for all rooms.
#ifndef SAPWOOD_TREE_PERIODS_H
#define SAPWOOD_TREE_PERIODS_H

#include "tree/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

// Whether an axis of a tree with these options is periodic.
static inline bool sap_is_periodic(const sap_tree_options* options) {
    for (int32_t a = 0; a < SAP_MAX_DIMS; a++)
        if (options->period[a] != 0) return true;
    return false;
}

// What is wrong with periods, which are already rounded, of a tree of this shape; or NULL.
const char* sap_periods_wrong(const sap_tree_options* options, int32_t dims, int32_t real_bits);
// Checks the periods that a caller gives for these points and takes them on, rounded to the points' precision.
sap_status sap_periods_read(const sap_device* device, const sap_tree_options* given, const sap_rows* points,
                            sap_tree_options* options);
// Fails if the device's processor has no trees with periods and these options give some.
sap_status sap_periods_take(const sap_device* device, const sap_tree_options* options);
// Fails if the tree has periods: for what they do not suit. `what` ends "trees with periods cannot …".
sap_status sap_periods_refuse(const sap_tree* tree, const char* what);

// Wraps the coordinates of one point or query, real[dims] of the tree's precision; what is not finite stays.
void sap_periods_wrap(const sap_tree* tree, const void* point, void* wrapped);

// Whether a query, wrapped, may have a point within `limit`, by the metric, whose nearest image lies beyond an end of a
// period. If not, what it finds within the limit is what it would find without periods.
bool sap_reaches_around(const sap_tree* tree, sap_metric metric, const void* query, double limit);

// Points or queries as a tree with periods sees them: the caller's own if the tree has none, or if they lie within them.
typedef struct sap_wrapped {
    sap_rows rows;
    sap_scratch scratch;
    double one[SAP_MAX_DIMS]; // of a single row: it allocates nothing
} sap_wrapped;

// Errors: SAP_ERROR_MEMORY. *wrapped must stay where it is until it is closed.
sap_status sap_wrapped_open(const sap_tree* tree, const sap_rows* rows, sap_wrapped* wrapped);
static inline void sap_wrapped_close(const sap_tree* tree, sap_wrapped* wrapped) {
    sap_scratch_give(tree->device, &wrapped->scratch);
}

#ifdef __cplusplus
}
#endif
#endif
