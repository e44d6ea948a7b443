// What the files about clouds of points share.
#ifndef SAPWOOD_PYTHON_CLOUD_H
#define SAPWOOD_PYTHON_CLOUD_H

#include "results.h"
#include "tree.h"

/** Whether an argument is there, and not None. */
static inline bool py_given(PyObject* value) { return value && value != Py_None; }

/** "f4" or "f8": the type of a tree's points. */
static inline const char* py_tree_type(const py_tree* tree) { return tree->real_bits == 32 ? "f4" : "f8"; }

/** Rows of an array on the host, without gaps. All zero can be released. */
typedef struct py_packed {
    py_array array;
    const void* data;
    void* made; // where rows were apart
} py_packed;

/**
 * Takes an array of the host with so many rows (below 0: any number) and, if `columns` is above 0, that many columns; `of` says in messages
 * what there is a row for. None is nothing. 0, or -1 and an exception.
 */
int py_packed_take(py_state* state, PyObject* value, const char* name, const char* want, int min_ndim, int max_ndim,
                   int64_t rows, int64_t columns, const char* of, py_packed* packed);
/** The same for a matrix of 4 x 4, of float64. */
int py_matrix_take(py_state* state, PyObject* value, const char* name, py_packed* packed);
void py_packed_release(py_packed* packed);

/** A number above 0, which None leaves as it is. 0, or -1 and an exception. */
int py_above(PyObject* value, const char* name, double* result);

/** Some of the words of `words`, a string or a sequence of them: a bit for each; None: all. */
int py_words(PyObject* value, const char* name, const char* const* words, uint32_t* bits);

/**
 * An array for results on the host: the caller's, or if there is none (NULL or None) a new one. -1 and an exception.
 */
int py_result_for(py_state* state, PyObject* out, const char* name, char kind, int bytes, int ndim,
                  const int64_t* shape, py_result* result);

/** An array of results of a call over a tree. */
typedef struct py_wanted {
    py_result* to;    // NULL: it is not wanted
    PyObject* out;    // the caller's, on the host or where the tree lies; NULL or None: a new one
    const char* name; // of out
    py_form form;
} py_wanted;

/**
 * Begins a call over a tree: takes the arrays of results, new ones on the pattern of `like` (all zero: on the host), and
 * then does what py_call_begin does. The arrays are released by the caller, also on failure.
 */
int py_cloud_begin(const py_tree* self, const py_array* like, int count, const py_wanted* wanted, PyObject* progress,
                   py_call* call);

/** sapwood.cloud's type of that name, made of a tuple, which is taken, also if it is NULL. */
PyObject* py_cloud_result(const char* name, PyObject* parts);

/** A result in a tuple: its array, or None. A new reference. */
static inline PyObject* py_part(const py_result* result) {
    return Py_NewRef(result->object ? result->object : Py_None);
}

/** sap_distance_info as a tuple (distances, count, …), an argument of sapwood.cloud.Distances. */
PyObject* py_distance_parts(const py_result* distances, const sap_distance_info* info);

#endif
