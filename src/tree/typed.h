// For texts that are compiled once per precision: `real` and TYPED(name) for the SAP_REAL_BITS of the moment.
// A .c file sets SAP_REAL_BITS and includes such a text twice.
#include <stdint.h>

#undef real
#undef TYPED
#if SAP_REAL_BITS == 64
#define real        double
#define TYPED(name) name##_f64
#elif SAP_REAL_BITS == 32
#define real        float
#define TYPED(name) name##_f32
#else
#error "SAP_REAL_BITS must be 32 or 64"
#endif
