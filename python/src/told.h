// What a search is told, as keywords: the fields of sap_search.
#ifndef SAPWOOD_PYTHON_TOLD_H
#define SAPWOOD_PYTHON_TOLD_H

#include "sapwood_python.h"

/** Arguments, each NULL or None if it is not given. */
typedef struct py_telling {
    PyObject *k, *radius, *metric, *p, *weights, *keep, *eps, *exclude, *ks, *sorted, *ordered;
} py_telling;

/** The search that they make, and what it points to. */
typedef struct py_told {
    sap_search search;
    double weights[SAP_MAX_DIMS];
    py_array keep, exclude, ks, radii;
    double* zeros; // a radius of 0 for each query
} py_told;

/**
 * Reads the arguments of a search of `queries` queries over points with these dims. Without `within`, a radius of 0 or
 * none means what sap_nearest takes it for; with it, what sap_radius does. 0, or -1 and an exception; py_told_release
 * is to be called in both cases.
 */
int py_told_read(py_state* state, const py_device* device, const py_telling* telling, int32_t dims, int64_t queries,
                 int64_t points, bool within, py_told* told);
void py_told_release(py_told* told);

#endif
