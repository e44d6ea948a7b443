// Includes the text that SAP_SPECIAL_TEXT names once for each precision and number of axes that has code of its own.

// Then SAP_EACH_AXES(form, bits) is form(bits, axes) for 2, 3 and 4 axes and for any number, in this order.

// clang-format off
#define SAP_REAL_BITS 32
#include "math/specialise_axes.h"
#undef SAP_REAL_BITS
#define SAP_REAL_BITS 64
#include "math/specialise_axes.h"
#undef SAP_REAL_BITS
#undef SAP_SPECIAL_TEXT
#if defined(SAP_FEW_INSTANCES)
#define SAP_EACH_AXES(form, bits) form(bits, 16), form(bits, 16), form(bits, 16), form(bits, 16)
#else
#define SAP_EACH_AXES(form, bits) form(bits, 2), form(bits, 3), form(bits, 4), form(bits, 16)
#endif
// clang-format on
