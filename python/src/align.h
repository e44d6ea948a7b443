// What the calls that align clouds share.
#ifndef SAPWOOD_PYTHON_ALIGN_H
#define SAPWOOD_PYTHON_ALIGN_H

#include "cloud.h"

/** Arguments of how two clouds are aligned, each NULL or None if it is not given. */
typedef struct py_aligning {
    PyObject *method, *iterations, *tolerance, *levels, *max_distance, *overlap, *max_angle, *one_to_one, *kernel,
        *kernel_scale, *flatness, *normals_k, *drop_nonfinite;
} py_aligning;

/** The options that they make. 0, or -1 and an exception. */
int py_align_options(const py_aligning* given, sap_align_options* options);

/** A sapwood.Alignment. rivals: other motions that fit as well where the start was found. */
PyObject* py_alignment(py_state* state, const sap_alignment* alignment, int64_t rivals);

/** Adds the function that aligns many clouds. */
int py_add_align(PyObject* module);

/** `count` matrices of side x side, or with ndim 1 one row, as an array of float64. */
PyObject* py_matrices(py_state* state, const double* numbers, int ndim, int64_t count, int64_t side);

#endif
