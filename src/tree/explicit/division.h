// How an inner node of an explicit tree divides its points, as the check of a split rule sees it, in one precision.
#include "math/specialise.h"

typedef struct SAP_TYPED(division) {
    const double *cell_lower, *cell_upper; // [dims]: the node's cell
    const SAP_REAL *lower, *upper;         // [dims]: the tight box of its points
    int64_t count, left_count;             // points below it, and below its left child
    SAP_REAL left_upper, right_lower;      // along `axis`: largest coordinate on the left side, smallest on the right
    SAP_REAL split;
    int32_t axis, depth;
} SAP_TYPED(division);
