#include "results.h"

int py_result_new(py_state* state, const py_array* like, char kind, int bytes, int ndim, const int64_t* shape,
                  py_result* result) {
    *result = (py_result){0};
    result->object = py_array_new(state, like, kind, bytes, ndim, shape, &result->data);
    return result->object ? 0 : -1;
}

int py_results_new(py_state* state, const py_array* like, int count, const py_form* forms, py_result* const* to) {
    enum { MOST = 16 };
    py_form wanted[MOST] = {{.kind = 0}};
    py_result* where[MOST];
    PyObject* arrays[MOST];
    void* data[MOST];
    int some = 0;
    for (int i = 0; i < count; i++) {
        if (!to[i] || some == MOST) continue;
        wanted[some] = forms[i];
        where[some++] = to[i];
    }
    if (py_arrays_new(state, like, some, wanted, arrays, data) < 0) return -1;
    for (int i = 0; i < some; i++) *where[i] = (py_result){.object = arrays[i], .data = data[i]};
    return 0;
}

int py_results_of_neighbors(py_state* state, const py_array* like, int ndim, int64_t rows, int32_t k, int bits,
                            py_result* ids, py_result* distances2) {
    py_form forms[] = {{'i', 4, ndim, {rows, k}}, {'f', bits / 8, ndim, {rows, k}}};
    if (ndim == 1) forms[0].shape[0] = forms[1].shape[0] = k;
    py_result* const to[] = {ids, distances2};
    return py_results_new(state, like, 2, forms, to);
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
