// Includes the text that SAP_SPECIAL_TEXT names once for each precision and number of axes that has code of its own.

// Then SAP_EACH_AXES_32(form) and SAP_EACH_AXES_64(form) are form(bits, axes) with the axes of the code that serves 2,
// 3 and 4 axes and any number, in this order.

// clang-format off
#define SAP_REAL_BITS 32
#include "math/specialise_axes.h"
#undef SAP_REAL_BITS
#define SAP_REAL_BITS 64
#include "math/specialise_axes.h"
#undef SAP_REAL_BITS
#undef SAP_SPECIAL_TEXT
#if defined(SAP_FEW_INSTANCES)
#define SAP_EACH_AXES_32(form) form(32, 16), form(32, 16), form(32, 16), form(32, 16)
#define SAP_EACH_AXES_64(form) form(64, 16), form(64, 16), form(64, 16), form(64, 16)
#else
#define SAP_EACH_AXES_32(form) form(32, 2), form(32, 3), form(32, 4), form(32, 16)
#define SAP_EACH_AXES_64(form) form(64, 16), form(64, 3), form(64, 16), form(64, 16)
#endif
// clang-format on
