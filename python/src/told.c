#include "told.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char* const metrics[] = {"l2", "l1", "linf", "lp", NULL};

static bool given(PyObject* value) { return value && value != Py_None; }

// An array of one element for each of `count`.
static int take_each(py_state* state, PyObject* value, const char* name, const char* want, int64_t count,
                     const char* what, const py_device* device, py_array* array) {
    if (py_array_take(state, value, name, want, 1, 1, 0, device, array) < 0) return -1;
    if (array->shape[0] == count) return 0;
    PyErr_Format(py_argument_error, "%s has %lld elements, and there are %lld %s", name, (long long)array->shape[0],
                 (long long)count, what);
    return -1;
}

static int read_metric(const py_telling* t, sap_search* s) {
    int32_t metric = SAP_METRIC_L2;
    if (given(t->p) && !given(t->metric)) metric = SAP_METRIC_LP;
    if (py_word(t->metric, "metric", metrics, &metric) < 0 || py_double(t->p, "p", &s->p) < 0) return -1;
    if (metric == SAP_METRIC_LP && !given(t->p)) {
        PyErr_SetString(py_argument_error, "metric 'lp' needs p, from 1 to 1000 or infinity");
        return -1;
    }
    s->metric = (sap_metric)metric;
    return 0;
}

static int read_weights(py_state* state, PyObject* value, int32_t dims, py_told* told) {
    if (!given(value)) return 0;
    py_array weights;
    if (take_each(state, value, "weights", "f8", dims, "axes", NULL, &weights) < 0) return -1;
    const bool there = weights.on_gpu;
    if (there)
        PyErr_SetString(py_argument_error, "weights must be on the host: it is one number an axis");
    else
        memcpy(told->weights, weights.data, (size_t)dims * sizeof *told->weights);
    py_array_release(&weights);
    told->search.weights = told->weights;
    return there ? -1 : 0;
}

// Ids are those of points, or -1. Of an array on a GPU that is not looked at, since it would have to be waited for.
static int check_excluded(const py_array* exclude, int64_t points) {
    const int32_t* ids = exclude->data;
    bool bad = false;
    for (int64_t i = 0; !exclude->on_gpu && i < exclude->shape[0]; i++) bad |= ids[i] < -1 || ids[i] >= points;
    for (int64_t i = 0; bad && i < exclude->shape[0]; i++) {
        if (ids[i] >= -1 && ids[i] < points) continue;
        PyErr_Format(py_argument_error, "exclude[%lld] is %d, which is neither -1 nor the id of one of the %lld points",
                     (long long)i, (int)ids[i], (long long)points);
        return -1;
    }
    return 0;
}

// A number for all queries, or an array of one for each.
static int read_radius(py_state* state, const py_device* device, PyObject* value, int64_t queries, bool within,
                       py_told* told) {
    if (!given(value)) return 0;
    if (PyFloat_Check(value) || PyLong_Check(value)) {
        double radius = 0;
        if (py_double(value, "radius", &radius) < 0) return -1;
        if (within || radius != 0) {
            told->search.radius = !within && radius == (double)INFINITY ? 0 : radius;
            return 0;
        }
        // As a field of the search 0 is no limit. As an argument it finds equal points.
        told->zeros = calloc((size_t)(queries ? queries : 1), sizeof *told->zeros);
        told->search.radii = told->zeros;
        if (!told->zeros) PyErr_NoMemory();
        return told->zeros ? 0 : -1;
    }
    if (py_array_take(state, value, "radius", "f8", 0, 1, 0, device, &told->radii) < 0) return -1;
    if (told->radii.ndim == 0 && !told->radii.on_gpu) {
        PyObject* number = PyFloat_FromDouble(PyFloat_AsDouble(value)); // as exact as it was given
        const int result = number && !PyErr_Occurred() ? read_radius(state, device, number, queries, within, told) : -1;
        Py_XDECREF(number);
        return result;
    }
    if (told->radii.ndim == 0 || told->radii.shape[0] != queries) {
        PyErr_Format(py_argument_error, "radius must be a number, or one number for each of the %lld queries",
                     (long long)queries);
        return -1;
    }
    told->search.radii = told->radii.data;
    return 0;
}

int py_told_read(py_state* state, const py_device* device, const py_telling* t, int32_t dims, int64_t queries,
                 int64_t points, bool within, py_told* told) {
    memset(told, 0, sizeof *told);
    sap_search* s = &told->search;
    s->k = within ? 0 : 1;
    if (py_int32(t->k, "k", 1, INT32_MAX, &s->k) < 0 || read_metric(t, s) < 0 ||
        py_double(t->eps, "eps", &s->eps) < 0 || py_bool(t->sorted, "sorted", &s->sorted) < 0 ||
        py_bool(t->ordered, "ordered", &s->ordered) < 0 || read_weights(state, t->weights, dims, told) < 0 ||
        read_radius(state, device, t->radius, queries, within, told) < 0)
        return -1;
    if (given(t->keep)) {
        if (take_each(state, t->keep, "keep", "b1u1", points, "points", device, &told->keep) < 0) return -1;
        s->keep = told->keep.data;
    }
    if (given(t->exclude)) {
        if (take_each(state, t->exclude, "exclude", "i4", queries, "queries", device, &told->exclude) < 0) return -1;
        if (check_excluded(&told->exclude, points) < 0) return -1;
        s->without_ids = told->exclude.data;
    }
    if (given(t->ks)) {
        if (take_each(state, t->ks, "ks", "i4", queries, "queries", device, &told->ks) < 0) return -1;
        s->ks = told->ks.data;
    }
    return 0;
}

void py_told_release(py_told* told) {
    py_array_release(&told->keep);
    py_array_release(&told->exclude);
    py_array_release(&told->ks);
    py_array_release(&told->radii);
    free(told->zeros);
    told->zeros = NULL;
}
