// Includes the text that SAP_SPECIAL_TEXT names once for each precision and number of axes that has code of its own.

// clang-format off
#define SAP_REAL_BITS 32
#define SAP_AXES 2
#include SAP_SPECIAL_TEXT
#undef SAP_AXES
#define SAP_AXES 3
#include SAP_SPECIAL_TEXT
#undef SAP_AXES
#define SAP_AXES 4
#include SAP_SPECIAL_TEXT
#undef SAP_AXES
#define SAP_AXES 16
#include SAP_SPECIAL_TEXT
#undef SAP_AXES
#undef SAP_REAL_BITS
#define SAP_REAL_BITS 64
#define SAP_AXES 2
#include SAP_SPECIAL_TEXT
#undef SAP_AXES
#define SAP_AXES 3
#include SAP_SPECIAL_TEXT
#undef SAP_AXES
#define SAP_AXES 4
#include SAP_SPECIAL_TEXT
#undef SAP_AXES
#define SAP_AXES 16
#include SAP_SPECIAL_TEXT
#undef SAP_AXES
#undef SAP_REAL_BITS
#undef SAP_SPECIAL_TEXT
// clang-format on
