// query_ball_point and query_ball_tree: the points within a radius, as lists.
#include "kdtree.h"

#include <math.h>
#include <stdlib.h>

// ---- Radii: one for all points, or one for each

typedef struct radii {
    double one;
    const double* each; // NULL: one
    Py_buffer view;
} radii;

// An array of radii of the points' own shape.
static int spread(py_kdtree* kd, PyObject* array, const py_kdtree_points* points, radii* r) {
    PyObject* wide = py_kdtree_array(kd, kd->types.dtype_float64, points->ndim - 1, points->shape, &r->view);
    if (!wide) return -1;
    const int result = PyObject_SetItem(wide, Py_Ellipsis, array);
    Py_DECREF(wide); // the view keeps it
    if (result < 0) {
        PyBuffer_Release(&r->view);
        r->view.obj = NULL;
        return -1;
    }
    r->each = r->view.buf;
    return 0;
}

static int take_radii(py_kdtree* kd, PyObject* object, const py_kdtree_points* points, radii* r) {
    *r = (radii){.one = 0};
    if (PyFloat_Check(object) || PyLong_Check(object)) return py_double(object, "r", &r->one);
    PyObject* array =
        PyObject_CallFunctionObjArgs(kd->tree.state->numpy_asarray, object, kd->types.dtype_float64, NULL);
    if (!array) py_value_error("r");
    PyObject* ndim = array ? PyObject_GetAttrString(array, "ndim") : NULL;
    int result = -1;
    if (ndim) {
        if (PyLong_AsLong(ndim) == 0) {
            PyObject* number = PyNumber_Float(array);
            result = number ? py_double(number, "r", &r->one) : -1;
            Py_XDECREF(number);
        } else
            result = spread(kd, array, points, r);
    }
    Py_XDECREF(ndim);
    Py_XDECREF(array);
    return result;
}

static void release_radii(radii* r) {
    if (r->view.obj) PyBuffer_Release(&r->view);
}

// ---- One point

// Row of one point, in memory to be freed; its length or -1 and an exception.
static int64_t within(py_kdtree* kd, const py_kdtree_points* point, double radius, int32_t* few, int64_t room,
                      int32_t** ids) {
    sap_query* query = py_tree_query(&kd->tree, &(sap_search){.k = 1});
    if (!query) return -1;
    const bool wide = kd->tree.real_bits == 64;
    int64_t count = wide ? sap_query_within_f64(query, point->coords, radius, room, few, NULL)
                         : sap_query_within(query, point->coords, radius, room, few, NULL);
    *ids = few;
    if (count > room && room > 0) {
        *ids = malloc((size_t)count * sizeof **ids);
        if (!*ids) {
            PyErr_NoMemory();
            return -1;
        }
        count = wide ? sap_query_within_f64(query, point->coords, radius, count, *ids, NULL)
                     : sap_query_within(query, point->coords, radius, count, *ids, NULL);
    }
    if (count < 0) py_raise(kd->tree.state, SAP_ERROR_MEMORY);
    return count;
}

static int by_number(const void* a, const void* b) {
    const int32_t x = *(const int32_t*)a, y = *(const int32_t*)b;
    return (x > y) - (x < y);
}

static PyObject* intp_of(const py_kdtree* kd, int64_t value) {
    PyObject* plain = PyLong_FromLongLong(value);
    PyObject* result = plain ? PyObject_CallFunctionObjArgs(kd->types.intp, plain, NULL) : NULL;
    Py_XDECREF(plain);
    return result;
}

static PyObject* ball_of_one(py_kdtree* kd, const py_kdtree_points* point, double radius, bool sorted, bool length) {
    enum { ROOM = 256 };
    int32_t few[ROOM], *ids = few;
    const int64_t count = radius >= 0 ? within(kd, point, radius, few, length ? 0 : ROOM, &ids) : 0;
    PyObject* result = NULL;
    if (count >= 0 && length)
        result = intp_of(kd, count);
    else if (count >= 0) {
        if (sorted) qsort(ids, (size_t)count, sizeof *ids, by_number);
        py_kdtree_ints none = {NULL, 0};
        result = py_kdtree_list(&none, ids, count);
    }
    if (ids != few) free(ids);
    return result;
}

// ---- Many points

typedef struct ball {
    py_kdtree* kd;
    const py_kdtree_points* points;
    sap_search search;
    int32_t threads;
    bool sorted;
} ball;

static sap_status collect(const sap_tree* tree, const ball* b, sap_neighbors** rows) {
    const int32_t m = tree->shape.dims;
    sap_status status =
        tree->shape.real_bits == 64
            ? sap_radius_search_f64(tree, (sap_points_f64){b->points->coords, b->points->count, m, m}, &b->search, rows)
            : sap_radius_search(tree, (sap_points){b->points->coords, b->points->count, m, m}, &b->search, rows);
    if (status != SAP_OK || !b->sorted) return status;
    status = py_kdtree_sort(*rows, b->threads);
    if (status != SAP_OK) {
        sap_neighbors_free(*rows);
        *rows = NULL;
    }
    return status;
}

static sap_status count_hits(const sap_tree* tree, const ball* b, int64_t* counts) {
    const int32_t m = tree->shape.dims;
    if (tree->shape.real_bits == 64)
        return sap_radius_search_count_f64(tree, (sap_points_f64){b->points->coords, b->points->count, m, m},
                                           &b->search, counts);
    return sap_radius_search_count(tree, (sap_points){b->points->coords, b->points->count, m, m}, &b->search, counts);
}

// Rows, or counts if those are wanted. -1 and an exception.
static int search_ball(const ball* b, sap_neighbors** rows, int64_t* counts) {
    py_device* device = py_kdtree_device(b->kd, b->threads);
    if (!device) return -1;
    py_call call;
    int result = py_call_begin(&call, device, NULL, NULL);
    if (result == 0) {
        sap_tree view;
        const sap_tree* tree = py_kdtree_view(b->kd, device, &view);
        const bool finite = py_kdtree_all_finite(b->points->coords, b->kd->tree.real_bits,
                                                 b->points->count * b->kd->tree.dims, b->threads);
        sap_status status = SAP_OK;
        if (finite) status = rows ? collect(tree, b, rows) : count_hits(tree, b, counts);
        result = py_call_end(&call, status);
        if (result == 0 && !finite) {
            py_kdtree_not_finite("'x'");
            result = -1;
        }
    }
    Py_DECREF((PyObject*)device);
    return result;
}

// Puts a list for each row into objects[rows], which are None or NULL before. Lists of ints are in no cycles, so the
// collector of cycles is not run at every few hundred of them.
static int fill_lists(const py_kdtree* kd, const sap_neighbors* rows, PyObject** objects) {
    py_kdtree_ints ints;
    py_kdtree_ints_open(&ints, py_kdtree_n(kd), rows->offsets[rows->count]);
    const int enabled = PyGC_Disable();
    int result = 0;
    for (int64_t row = 0; row < rows->count; row++) {
        const int64_t first = rows->offsets[row];
        PyObject* list = py_kdtree_list(&ints, rows->ids + first, rows->offsets[row + 1] - first);
        if (!list) {
            result = -1;
            break;
        }
        PyObject* old = objects[row];
        objects[row] = list;
        Py_XDECREF(old);
    }
    if (enabled) PyGC_Enable();
    py_kdtree_ints_close(&ints);
    return result;
}

static PyObject* lists_of_balls(const ball* b) {
    sap_neighbors* rows = NULL;
    if (search_ball(b, &rows, NULL) < 0 || !rows) return NULL;
    Py_buffer view;
    PyObject* result = py_kdtree_array(b->kd, b->kd->types.dtype_object, b->points->ndim - 1, b->points->shape, &view);
    if (result) {
        const int filled = fill_lists(b->kd, rows, view.buf);
        PyBuffer_Release(&view);
        if (filled < 0) {
            Py_DECREF(result);
            result = NULL;
        }
    }
    sap_neighbors_free(rows);
    if (!result || b->points->ndim > 1) return result;
    PyObject* empty = PyTuple_New(0); // of a single point: what the array of no axis holds
    PyObject* only = empty ? PyObject_GetItem(result, empty) : NULL;
    Py_XDECREF(empty);
    Py_DECREF(result);
    return only;
}

static PyObject* lengths_of_balls(const ball* b) {
    Py_buffer view;
    PyObject* result = py_kdtree_array(b->kd, b->kd->types.dtype_intp, b->points->ndim - 1, b->points->shape, &view);
    if (!result) return NULL;
    const int counted = search_ball(b, NULL, view.buf);
    const int64_t only = counted == 0 && b->points->ndim == 1 ? *(int64_t*)view.buf : 0;
    PyBuffer_Release(&view);
    if (counted == 0 && b->points->ndim > 1) return result;
    Py_DECREF(result);
    return counted < 0 ? NULL : intp_of(b->kd, only);
}

static PyObject* ball_of_points(ball* b, PyObject* r, bool length) {
    radii given;
    if (take_radii(b->kd, r, b->points, &given) < 0) return NULL;
    PyObject* result = NULL;
    const bool plain = b->search.metric == SAP_METRIC_L2 && !b->kd->tree.periodic;
    if (b->points->ndim == 1 && plain && !given.each && (b->kd->tree.dims <= 4 || py_kdtree_n(b->kd) <= 20000)) {
        if (py_kdtree_all_finite(b->points->coords, b->kd->tree.real_bits, b->kd->tree.dims, 1))
            result = ball_of_one(b->kd, b->points, given.one, b->sorted, length);
        else
            py_kdtree_not_finite("'x'");
    } else {
        // A radius that is negative or not a number finds nothing: as one of many it may be so.
        const bool nothing = !given.each && !(given.one >= 0);
        double* const same = nothing ? malloc((size_t)b->points->count * 8 + 8) : NULL;
        for (int64_t i = 0; same && i < b->points->count; i++) same[i] = -1;
        b->search.radii = nothing ? same : given.each;
        b->search.radius = b->search.radii ? 0 : given.one;
        if (nothing && !same)
            PyErr_NoMemory();
        else
            result = length ? lengths_of_balls(b) : lists_of_balls(b);
        free(same);
    }
    release_radii(&given);
    return result;
}

PyObject* py_kdtree_query_ball_point(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    static const char* const words[] = {"x", "r", "p", "eps", "workers", "return_sorted", "return_length", NULL};
    PyObject* values[7];
    ball b = {.threads = 1};
    double eps; // the exact answer is one of those that it allows
    if (py_arguments("query_ball_point", words, 2, 7, args, count, names, values) < 0 ||
        py_kdtree_norm(values[2], &b.search) < 0 || py_kdtree_eps(values[3], &eps) < 0 ||
        py_kdtree_workers(values[4], &b.threads) < 0)
        return NULL;
    const int sorted = values[5] && values[5] != Py_None ? PyObject_IsTrue(values[5]) : 2;
    const int length = values[6] ? PyObject_IsTrue(values[6]) : 0;
    if (sorted < 0 || length < 0) return NULL;
    b.kd = py_kdtree_use(self);
    if (!b.kd) return NULL;
    py_kdtree_points points;
    PyObject* result = NULL;
    if (py_kdtree_points_take(b.kd, values[0], &points) == 0) {
        b.points = &points;
        b.sorted = sorted == 2 ? points.ndim > 1 : sorted == 1;
        result = ball_of_points(&b, values[1], length == 1);
        py_kdtree_points_release(&points);
    }
    py_kdtree_done(b.kd);
    return result;
}

// ---- query_ball_tree

static PyObject* lists_of_rows(const py_kdtree* kd, const py_kdtree* other, const sap_neighbors* rows) {
    const int64_t n = py_kdtree_n(kd);
    PyObject* result = PyList_New((Py_ssize_t)n);
    if (!result) return NULL;
    py_kdtree_ints ints;
    py_kdtree_ints_open(&ints, py_kdtree_n(other), rows ? rows->offsets[n] : 0);
    const int enabled = PyGC_Disable();
    for (int64_t row = 0; row < n; row++) {
        const int64_t first = rows ? rows->offsets[row] : 0, length = rows ? rows->offsets[row + 1] - first : 0;
        PyObject* list = py_kdtree_list(&ints, rows ? rows->ids + first : NULL, length);
        if (!list || PyList_SetItem(result, (Py_ssize_t)row, list) < 0) {
            Py_DECREF(result);
            result = NULL;
            break;
        }
    }
    if (enabled) PyGC_Enable();
    py_kdtree_ints_close(&ints);
    return result;
}

PyObject* py_kdtree_query_ball_tree(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    static const char* const words[] = {"other", "r", "p", "eps", NULL};
    PyObject* values[4];
    sap_search search = {.k = 0};
    double eps;
    if (py_arguments("query_ball_tree", words, 2, 4, args, count, names, values) < 0 ||
        py_number(values[1], "r", &search.radius) < 0 || py_kdtree_norm(values[2], &search) < 0 ||
        py_kdtree_eps(values[3], &eps) < 0)
        return NULL;
    py_kdtree_two two;
    if (py_kdtree_two_open(&two, self, values[0], "query_ball_tree") < 0) return NULL;
    sap_neighbors* rows = NULL;
    PyObject* result = NULL;
    py_call call;
    if (py_call_begin(&call, two.device, NULL, NULL) == 0) {
        sap_status status = py_kdtree_pairs(&two, &search, &rows);
        if (status == SAP_OK && rows) status = py_kdtree_sort(rows, PY_KDTREE_THREADS);
        if (py_call_end(&call, status) == 0) result = lists_of_rows(two.kd, two.other, rows);
        sap_neighbors_free(rows);
    }
    py_kdtree_two_close(&two);
    return result;
}
