// torch's tensors on a GPU, without Python code.
#ifndef SAPWOOD_PYTHON_TORCH_H
#define SAPWOOD_PYTHON_TORCH_H

#include "sapwood_python.h"

/** A tensor on a GPU that can be read as it lies. Strides in bytes. */
typedef struct py_tensor {
    void* data;
    int64_t shape[3], strides[3];
    int ndim, bytes, ordinal;
    char kind;
    void* stream; // in which torch works now; it lives for ever
} py_tensor;

/**
 * Reads a tensor. False, without an exception, for whatever is none, or is not plain: on the host, with a gradient, of
 * a class of its own, in a stream that torch does not own.
 */
bool py_torch_read(py_state* state, PyObject* object, py_tensor* tensor);

/** A new tensor where `like` lies, and its address. NULL, perhaps with an exception, if `like` is no tensor of torch. */
PyObject* py_torch_new(py_state* state, PyObject* like, char kind, int bytes, PyObject* extents, void** data);

#endif
