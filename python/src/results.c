#include "results.h"

int py_result_new(py_state* state, const py_array* like, char kind, int bytes, int ndim, const int64_t* shape,
                  py_result* result) {
    *result = (py_result){0};
    result->object = py_array_new(state, like, kind, bytes, ndim, shape, &result->data);
    return result->object ? 0 : -1;
}

int py_result_take(py_state* state, PyObject* object, const char* name, char kind, int bytes, int ndim,
                   const int64_t* shape, const py_device* on, py_result* result) {
    const char want[3] = {kind, (char)('0' + bytes), 0};
    *result = (py_result){0};
    if (py_array_take_out(state, object, name, want, ndim, shape, on, &result->given) < 0) return -1;
    result->object = Py_NewRef(object);
    result->data = result->given.data;
    return 0;
}

void py_result_release(py_result* result) {
    py_array_release(&result->given);
    Py_CLEAR(result->object);
}

PyObject* py_out_element(PyObject* out, Py_ssize_t count, Py_ssize_t i) {
    if (PyTuple_Check(out) && PyTuple_Size(out) == count) return PyTuple_GetItem(out, i);
    if (PyList_Check(out) && PyList_Size(out) == count) return PyList_GetItem(out, i);
    PyErr_Format(PyExc_TypeError, "out must be a tuple of %zd arrays", count);
    return NULL;
}
