// Includes the text that SAP_SPECIAL_TEXT names once for each precision.

// clang-format off
#define SAP_REAL_BITS 32
#include SAP_SPECIAL_TEXT
#undef SAP_REAL_BITS
#define SAP_REAL_BITS 64
#include SAP_SPECIAL_TEXT
#undef SAP_REAL_BITS
#undef SAP_SPECIAL_TEXT
// clang-format on
