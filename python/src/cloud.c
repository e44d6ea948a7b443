// What the calls about clouds of points share: arguments and results.
#include "cloud.h"
#include <stdlib.h>
#include <string.h>

void py_packed_release(py_packed* packed) {
    py_array_release(&packed->array);
    free(packed->made);
    *packed = (py_packed){0};
}

// Copies rows that are apart. False: no memory.
static bool pack(py_packed* packed) {
    const py_array* a = &packed->array;
    packed->data = a->data;
    if (a->ndim != 2 || a->stride == a->shape[1] || a->shape[0] < 2) return true;
    const size_t row = (size_t)a->shape[1] * (size_t)a->bytes;
    packed->made = malloc((size_t)a->shape[0] * row + 1);
    packed->data = packed->made;
    for (int64_t i = 0; packed->made && i < a->shape[0]; i++)
        memcpy((char*)packed->made + (size_t)i * row, (const char*)a->data + i * a->stride * a->bytes, row);
    return packed->made != NULL;
}

int py_packed_take(py_state* state, PyObject* value, const char* name, const char* want, int min_ndim, int max_ndim,
                   int64_t rows, int64_t columns, const char* of, py_packed* packed) {
    *packed = (py_packed){0};
    if (!py_given(value)) return 0;
    py_array* a = &packed->array;
    if (py_array_take(state, value, name, want, min_ndim, max_ndim, 0, NULL, a) < 0) return -1;
    if (a->on_gpu)
        PyErr_Format(py_argument_error, "%s must be on the host", name);
    else if (rows >= 0 && a->shape[0] != rows)
        PyErr_Format(py_argument_error, "%s has %lld rows, and there are %lld %s", name, (long long)a->shape[0],
                     (long long)rows, of);
    else if (columns && a->ndim == 2 && a->shape[1] != columns)
        PyErr_Format(py_argument_error, "%s has %lld columns, not %lld", name, (long long)a->shape[1],
                     (long long)columns);
    else if (pack(packed))
        return 0;
    else
        PyErr_NoMemory();
    py_packed_release(packed);
    return -1;
}

int py_matrix_take(py_state* state, PyObject* value, const char* name, py_packed* packed) {
    *packed = (py_packed){0};
    if (!py_given(value)) return 0;
    py_array* a = &packed->array;
    if (py_array_take(state, value, name, "f8", 2, 2, 0, NULL, a) < 0) return -1;
    if (a->on_gpu || a->shape[0] != 4 || a->shape[1] != 4)
        PyErr_Format(py_argument_error, "%s must be a matrix of 4 x 4, on the host", name);
    else if (pack(packed))
        return 0;
    else
        PyErr_NoMemory();
    py_packed_release(packed);
    return -1;
}

int py_above(PyObject* value, const char* name, double* result) {
    if (!py_given(value)) return 0;
    if (py_double(value, name, result) < 0) return -1;
    if (*result > 0) return 0;
    PyErr_Format(py_argument_error, "%s must be above 0, not %S", name, value);
    return -1;
}

int py_words(PyObject* value, const char* name, const char* const* words, uint32_t* bits) {
    if (!py_given(value)) {
        *bits = UINT32_MAX;
        return 0;
    }
    *bits = 0;
    int32_t word = 0;
    if (PyUnicode_Check(value)) {
        if (py_word(value, name, words, &word) < 0) return -1;
        *bits = 1U << word;
        return 0;
    }
    PyObject* several = PySequence_Tuple(value);
    int result = several ? 0 : -1;
    for (Py_ssize_t i = 0; result == 0 && i < PyTuple_Size(several); i++) {
        PyObject* item = PyTuple_GetItem(several, i);
        if (PyUnicode_Check(item)) {
            result = py_word(item, name, words, &word);
            *bits |= 1U << word;
        } else {
            PyErr_Format(PyExc_TypeError, "%s must be words, not %R", name, item);
            result = -1;
        }
    }
    Py_XDECREF(several);
    return result;
}

int py_result_for(py_state* state, PyObject* out, const char* name, char kind, int bytes, int ndim,
                  const int64_t* shape, py_result* result) {
    if (!py_given(out)) return py_result_new(state, NULL, kind, bytes, ndim, shape, result);
    if (py_result_take(state, out, name, kind, bytes, ndim, shape, NULL, result) < 0) return -1;
    if (!result->given.on_gpu) return 0;
    PyErr_Format(py_argument_error, "%s must be on the host", name);
    py_result_release(result);
    return -1;
}

int py_cloud_begin(const py_tree* self, const py_array* like, int count, const py_wanted* wanted, PyObject* progress,
                   py_call* call) {
    enum { MOST = 9 };
    py_form forms[MOST];
    py_result* to[MOST];
    bool wait = false;
    for (int i = 0; i < count; i++) {
        const py_form* f = &wanted[i].form;
        forms[i] = *f;
        to[i] = py_given(wanted[i].out) ? NULL : wanted[i].to;
        if (to[i] || !wanted[i].to) continue;
        if (py_result_take(self->state, wanted[i].out, wanted[i].name, f->kind, f->bytes, f->ndim, f->shape,
                           self->device, wanted[i].to) < 0)
            return -1;
        wait |= py_result_must_wait(wanted[i].to);
    }
    if (py_results_new(self->state, like, count, forms, to) < 0 ||
        py_call_begin(call, self->device, like, progress) < 0)
        return -1;
    call->wait |= wait;
    return 0;
}

PyObject* py_cloud_result(const char* name, PyObject* parts) {
    PyObject* module = parts ? PyImport_ImportModule("sapwood.cloud") : NULL;
    PyObject* type = module ? PyObject_GetAttrString(module, name) : NULL;
    PyObject* result = type ? PyObject_CallObject(type, parts) : NULL;
    Py_XDECREF(type);
    Py_XDECREF(module);
    Py_XDECREF(parts);
    return result;
}

PyObject* py_distance_parts(const py_result* distances, const sap_distance_info* info) {
    return Py_BuildValue("(NLdddddL)", py_part(distances), (long long)info->count, info->mean, info->mean_square,
                         info->bias, info->quantile, info->greatest, (long long)info->farthest);
}
