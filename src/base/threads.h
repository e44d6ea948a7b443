// The number of the running thread among those that share the innermost parallel work: 0 to threads - 1.
#ifndef SAPWOOD_BASE_THREADS_H
#define SAPWOOD_BASE_THREADS_H

#if defined(_OPENMP)
#include <omp.h>
static inline int sap_thread_number(void) { return omp_get_thread_num(); }
// How many parallel regions stand around the caller.
static inline int sap_thread_level(void) { return omp_get_level(); }
#else
static inline int sap_thread_number(void) { return 0; }
static inline int sap_thread_level(void) { return 0; }
#endif

#endif
