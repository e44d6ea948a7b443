// Includes the text that SAP_SPECIAL_TEXT names once for each precision and number of axes that has code of its own.

// clang-format off
#define SAP_REAL_BITS 32
#include "math/specialise_axes.h"
#undef SAP_REAL_BITS
#define SAP_REAL_BITS 64
#include "math/specialise_axes.h"
#undef SAP_REAL_BITS
#undef SAP_SPECIAL_TEXT
// clang-format on
