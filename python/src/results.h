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
/** Whether it lies where nobody waits for it: on a GPU, of a library that works in another stream. */
static inline bool py_result_must_wait(const py_result* result) {
    return result->given.on_gpu && !result->given.in_stream;
}
/** New arrays, all at once. to[i] NULL: that one is not wanted. 0, or -1 and an exception, and no arrays. */
int py_results_new(py_state* state, const py_array* like, int count, const py_form* forms, py_result* const* to);
/** New arrays for neighbours of queries of `ndim` axes: ids, and distances of so many bits. NULL: not wanted. */
int py_results_of_neighbors(py_state* state, const py_array* like, int ndim, int64_t rows, int32_t k, int bits,
                            py_result* ids, py_result* distances2);
void py_result_release(py_result* result);

/**
 * Element number i of out, which has `count`, as a borrowed reference; NULL and an exception if out is not a tuple or
 * list of that many.
 */
PyObject* py_out_element(PyObject* out, Py_ssize_t count, Py_ssize_t i);

#endif
