// Arrays that a search writes: new ones, or those that the caller gave as out.
#ifndef SAPWOOD_PYTHON_RESULTS_H
#define SAPWOOD_PYTHON_RESULTS_H

#include "sapwood_python.h"

/** One array of results. All zero: there is none. */
typedef struct py_result {
    PyObject* object;
    void* data;
    py_array given;
} py_result;

/** A new array. */
int py_result_new(py_state* state, const py_array* like, char kind, int bytes, int ndim, const int64_t* shape,
                  py_result* result);
/** The caller's array. */
int py_result_take(py_state* state, PyObject* object, const char* name, char kind, int bytes, int ndim,
                   const int64_t* shape, const py_device* on, py_result* result);
void py_result_release(py_result* result);

/**
 * Element number i of out, which has `count`, as a borrowed reference; NULL and an exception if out is not a tuple or
 * list of that many.
 */
PyObject* py_out_element(PyObject* out, Py_ssize_t count, Py_ssize_t i);

#endif
