// count_neighbors: how many pairs of points lie within radii, or how much weight.
#include "kdtree.h"
#include "tree/limit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Radii as they were given, and those that are counted: ascending, each once, not negative.
typedef struct radii {
    Py_ssize_t count; // given
    int ndim;         // 0: a single one
    double* given;    // [count]
    double* counted;  // [different]
    int32_t different;
    double* sums;   // [different]
    Py_buffer view; // of `given`
} radii;

static int ascending(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static void choose(radii* r) {
    for (Py_ssize_t i = 0; i < r->count; i++)
        if (r->given[i] >= 0) r->counted[r->different++] = r->given[i];
    qsort(r->counted, (size_t)r->different, sizeof *r->counted, ascending);
    int32_t kept = 0;
    for (int32_t i = 0; i < r->different; i++)
        if (i == 0 || r->counted[i] != r->counted[kept - 1]) r->counted[kept++] = r->counted[i];
    r->different = kept;
}

static const char* wrong_with(const radii* r, bool cumulative) {
    if (r->ndim > 1) return "r must be either a single value or a one-dimensional array of values";
    if (r->count > INT32_MAX) return "r has too many values";
    for (Py_ssize_t i = 0; i < r->count; i++)
        if (isnan(r->given[i])) return "r must not be nan";
    for (Py_ssize_t i = 1; !cumulative && i < r->count; i++)
        if (r->given[i] < r->given[i - 1]) return "r must be non-decreasing for non-cumulative counting.";
    return NULL;
}

static void release_radii(radii* r) {
    if (r->view.obj) PyBuffer_Release(&r->view);
    free(r->counted);
    free(r->sums);
}

static int take_radii(const py_kdtree* kd, PyObject* object, bool cumulative, radii* r) {
    memset(r, 0, sizeof *r);
    if (py_kdtree_doubles(kd, object, "r", &r->view) < 0) return -1;
    r->ndim = r->view.ndim;
    r->count = r->view.len / (Py_ssize_t)sizeof(double);
    r->given = r->view.buf;
    const char* wrong = wrong_with(r, cumulative);
    r->counted = wrong ? NULL : malloc((size_t)r->count * sizeof *r->counted + 1);
    r->sums = wrong ? NULL : calloc((size_t)r->count + 1, sizeof *r->sums);
    if (r->counted && r->sums) {
        choose(r);
        return 0;
    }
    if (wrong)
        PyErr_SetString(py_argument_error, wrong);
    else
        PyErr_NoMemory();
    release_radii(r);
    return -1;
}

// ---- Weights

typedef struct weights {
    const double *a, *b; // NULL: 1 each
    Py_buffer view_a, view_b;
} weights;

static void release_weights(weights* w) {
    if (w->view_a.obj) PyBuffer_Release(&w->view_a);
    if (w->view_b.obj) PyBuffer_Release(&w->view_b);
}

static int take_half(const py_kdtree* kd, PyObject* object, Py_buffer* view, const double** reals) {
    if (object == Py_None) return 0;
    if (py_kdtree_doubles(kd, object, "weights", view) < 0) return -1;
    *reals = view->buf;
    if (view->ndim == 1 && view->shape[0] == py_kdtree_n(kd)) return 0;
    PyErr_SetString(py_argument_error, "Number of weights differ from the number of data points");
    return -1;
}

static int take_weights(const py_kdtree_two* two, PyObject* object, weights* w) {
    memset(w, 0, sizeof *w);
    if (!object || object == Py_None) return 0;
    PyObject *a = object, *b = object;
    if (PyTuple_Check(object)) {
        if (PyTuple_Size(object) != 2) {
            PyErr_SetString(py_argument_error, "weights must be an array, or a tuple of two");
            return -1;
        }
        a = PyTuple_GetItem(object, 0);
        b = PyTuple_GetItem(object, 1);
    } else if (two->other != two->kd) {
        PyErr_SetString(py_argument_error, "Two different trees are used. Specify weights for both in a tuple.");
        return -1;
    }
    if (take_half(two->kd, a, &w->view_a, &w->a) == 0 && take_half(two->other, b, &w->view_b, &w->b) == 0) return 0;
    release_weights(w);
    return -1;
}

// ---- Norms that the library counts one radius at a time

typedef struct counting {
    const py_kdtree_two* two;
    const weights* w;
    sap_search search;
    radii* r;
    double* limits; // [different] of distance2
} counting;

static sap_status count_queries(const counting* c, double radius, int64_t from, int64_t to, int64_t* counts) {
    sap_search search = c->search;
    search.radius = radius;
    if (c->two->kd->tree.real_bits == 64)
        return sap_radius_search_count_f64(c->two->b, py_kdtree_queries_f64(c->two->kd, from, to), &search, counts);
    return sap_radius_search_count(c->two->b, py_kdtree_queries_f32(c->two->kd, from, to), &search, counts);
}

// Cumulative counts.
static sap_status count_each(const counting* c, int64_t* counts) {
    const int64_t n = py_kdtree_n(c->two->kd);
    sap_status status = SAP_OK;
    for (int32_t i = 0; status == SAP_OK && i < c->r->different; i++) {
        status = count_queries(c, c->r->counted[i], 0, n, counts);
        int64_t sum = 0;
        for (int64_t row = 0; status == SAP_OK && row < n; row++) sum += counts[row];
        c->r->sums[i] = (double)sum;
    }
    return status;
}

static void weigh_rows(const counting* c, int64_t from, const sap_neighbors* rows) {
    for (int64_t row = 0; row < rows->count; row++) {
        const double weight = c->w->a ? c->w->a[from + row] : 1;
        for (int64_t at = rows->offsets[row]; at < rows->offsets[row + 1]; at++) {
            const double distance2 = rows->distance2_f64 ? rows->distance2_f64[at] : (double)rows->distance2[at];
            int32_t bin = 0;
            while (bin + 1 < c->r->different && distance2 > c->limits[bin]) bin++;
            c->r->sums[bin] += weight * (c->w->b ? c->w->b[rows->ids[at]] : 1);
        }
    }
}

static sap_status weigh_queries(const counting* c, int64_t from, int64_t to) {
    sap_search search = c->search;
    search.radius = c->r->counted[c->r->different - 1];
    sap_neighbors* rows = NULL;
    const sap_status status =
        c->two->kd->tree.real_bits == 64
            ? sap_radius_search_f64(c->two->b, py_kdtree_queries_f64(c->two->kd, from, to), &search, &rows)
            : sap_radius_search(c->two->b, py_kdtree_queries_f32(c->two->kd, from, to), &search, &rows);
    if (status == SAP_OK) weigh_rows(c, from, rows);
    sap_neighbors_free(rows);
    return status;
}

// As many points at a time as have so many hits, which bounds the memory. Bins.
static sap_status weigh_each(const counting* c, int64_t* counts) {
    enum { MOST_HITS = 1 << 22 };
    const int64_t n = py_kdtree_n(c->two->kd);
    sap_status status = count_queries(c, c->r->counted[c->r->different - 1], 0, n, counts);
    for (int64_t from = 0, to; status == SAP_OK && from < n; from = to) {
        int64_t hits = counts[from];
        for (to = from + 1; to < n && hits + counts[to] <= MOST_HITS; to++) hits += counts[to];
        status = weigh_queries(c, from, to);
    }
    return status;
}

static sap_status count_by_norm(counting* c, bool cumulative) {
    const int power = c->search.metric == SAP_METRIC_LP ? (int)c->search.p : 1;
    const double fraction = c->search.metric == SAP_METRIC_LP ? c->search.p - power : 0;
    const bool weighted = c->w->a || c->w->b;
    int64_t* counts = malloc((size_t)py_kdtree_n(c->two->kd) * sizeof *counts + 1);
    c->limits = malloc((size_t)c->r->different * sizeof *c->limits + 1);
    sap_status status = counts && c->limits ? SAP_OK : SAP_ERROR_MEMORY;
    for (int32_t i = 0; status == SAP_OK && i < c->r->different; i++)
        c->limits[i] = sap_limit_of(c->r->counted[i], power, (uint64_t)ldexp(fraction, 64), c->two->kd->tree.real_bits);
    if (status == SAP_OK && c->r->different) status = weighted ? weigh_each(c, counts) : count_each(c, counts);
    double* sums = c->r->sums;
    if (weighted && cumulative)
        for (int32_t i = 1; i < c->r->different; i++) sums[i] += sums[i - 1];
    if (!weighted && !cumulative)
        for (int32_t i = c->r->different - 1; i > 0; i--) sums[i] -= sums[i - 1];
    free(counts);
    free(c->limits);
    return status;
}

// ---- Results

// The sum of the radius that was given at place i. Of equal edges of bins only the first has any.
static double sum_of(const radii* r, Py_ssize_t i, bool cumulative) {
    const double radius = r->given[i];
    if (radius < 0 || (!cumulative && i && r->given[i - 1] == radius)) return 0;
    int32_t from = 0, to = r->different - 1;
    while (from < to) {
        const int32_t middle = from + (to - from) / 2;
        if (r->counted[middle] < radius)
            from = middle + 1;
        else
            to = middle;
    }
    return r->sums[from];
}

static PyObject* result_of(py_kdtree* kd, const radii* r, bool weighted, bool cumulative) {
    if (r->ndim == 0 && !weighted) return PyLong_FromDouble(sum_of(r, 0, cumulative));
    Py_buffer view;
    PyObject* result =
        py_kdtree_array(kd, weighted ? kd->types.dtype_float64 : kd->types.dtype_intp, 1, &r->count, &view);
    if (!result) return NULL;
    for (Py_ssize_t i = 0; i < r->count; i++) {
        const double sum = sum_of(r, i, cumulative);
        if (weighted)
            ((double*)view.buf)[i] = sum;
        else
            ((int64_t*)view.buf)[i] = (int64_t)sum;
    }
    PyBuffer_Release(&view);
    if (r->ndim > 0) return result;
    PyObject* zero = PyLong_FromLong(0);
    PyObject* only = zero ? PyObject_GetItem(result, zero) : NULL;
    Py_XDECREF(zero);
    Py_DECREF(result);
    return only;
}

static PyObject* count_two(const py_kdtree_two* two, const sap_search* search, radii* r, const weights* w,
                           bool cumulative) {
    counting c = {.two = two, .w = w, .search = *search, .r = r};
    py_call call;
    if (py_call_begin(&call, two->device, NULL, NULL) < 0) return NULL;
    const sap_status status =
        search->metric == SAP_METRIC_L2
            ? sap_tree_count_pairs(two->a, two->b, r->counted, r->different, w->a, w->b, cumulative, r->sums)
            : count_by_norm(&c, cumulative);
    if (py_call_end(&call, status) < 0) return NULL;
    return result_of(two->kd, r, w->a || w->b, cumulative);
}

PyObject* py_kdtree_count_neighbors(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    static const char* const words[] = {"other", "r", "p", "weights", "cumulative", NULL};
    PyObject* values[5];
    sap_search search = {.k = 0};
    if (py_arguments("count_neighbors", words, 2, 5, args, count, names, values) < 0 ||
        py_kdtree_norm(values[2], &search) < 0)
        return NULL;
    const int cumulative = values[4] ? PyObject_IsTrue(values[4]) : 1;
    if (cumulative < 0) return NULL;
    py_kdtree_two two;
    if (py_kdtree_two_open(&two, self, values[0], "count_neighbors") < 0) return NULL;
    PyObject* result = NULL;
    radii r;
    weights w;
    if (take_radii(two.kd, values[1], cumulative, &r) == 0) {
        if (take_weights(&two, values[3], &w) == 0) {
            result = count_two(&two, &search, &r, &w, cumulative);
            release_weights(&w);
        }
        release_radii(&r);
    }
    py_kdtree_two_close(&two);
    return result;
}
