// Broken invariants: what must hold if Sapwood's own code is right, whatever its caller does. A caller's mistake is a
// status, never an assertion.
//
// SAP_ASSERT is checked where SAP_ASSERTIONS is defined: in debug, sanitizer and fuzz builds and in the kernels of the
// emulated GPU. In all other builds the condition is compiled and never evaluated, so it costs nothing and must have no
// side effect. It stands in C and CUDA C; shared texts may use it too (math/dialect.h removes it from shaders).
#ifndef SAPWOOD_BASE_ASSERT_H
#define SAPWOOD_BASE_ASSERT_H

#if defined(SAP_ASSERTIONS)
#undef NDEBUG
#include <assert.h>
#define SAP_ASSERT(condition) assert(condition)
#else
#define SAP_ASSERT(condition) ((void)sizeof(!(condition)))
#endif

#endif
