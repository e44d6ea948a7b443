// Includes the text that SAP_SPECIAL_TEXT names once for each number of axes, for one precision (specialise_all.h).
// Doubles, which are rarer, have code of their own for 3 axes only; with SAP_FEW_INSTANCES the text for any number
// serves all.

// clang-format off
#if !defined(SAP_FEW_INSTANCES)
#if SAP_REAL_BITS == 32
#define SAP_AXES 2
#include SAP_SPECIAL_TEXT
#undef SAP_AXES
#define SAP_AXES 4
#include SAP_SPECIAL_TEXT
#undef SAP_AXES
#endif
#define SAP_AXES 3
#include SAP_SPECIAL_TEXT
#undef SAP_AXES
#endif
#define SAP_AXES 16
#include SAP_SPECIAL_TEXT
#undef SAP_AXES
// clang-format on
