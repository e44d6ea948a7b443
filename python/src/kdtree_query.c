// query: the k nearest points.
#include "kdtree.h"
#include "tree/limit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Which neighbours are wanted.
typedef struct wanted {
    int32_t most;       // of them: what is searched for
    Py_ssize_t columns; // of the results
    int64_t* list;      // [columns], from 1; NULL: 1 … most
} wanted;

static int refuse_k(void) {
    PyErr_SetString(py_argument_error, "k must be an integer or a sequence of integers, from 1 on");
    return -1;
}

// One number, whole and at least 1.
static int take_number(PyObject* value, int64_t* number) {
    PyObject* whole = NULL;
    if (PyFloat_Check(value)) {
        const double real = PyFloat_AsDouble(value);
        if (!(real >= 1 && real <= INT32_MAX) || real != floor(real)) return refuse_k();
        *number = (int64_t)real;
        return 0;
    }
    whole = PyNumber_Index(value);
    if (!whole) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
        PyErr_Clear();
        return refuse_k();
    }
    int overflow;
    *number = PyLong_AsLongLongAndOverflow(whole, &overflow);
    Py_DECREF(whole);
    return overflow || *number < 1 || *number > INT32_MAX ? refuse_k() : 0;
}

static int take_list(PyObject* value, wanted* k) {
    PyObject* items = PySequence_List(value);
    if (!items) {
        PyErr_Clear();
        return refuse_k();
    }
    k->columns = PyList_Size(items);
    k->list = k->columns ? malloc((size_t)k->columns * sizeof *k->list) : NULL;
    if (!k->columns)
        refuse_k();
    else if (!k->list)
        PyErr_NoMemory();
    bool in_order = true;
    for (Py_ssize_t i = 0; k->list && i < k->columns; i++) {
        if (take_number(PyList_GetItem(items, i), &k->list[i]) < 0) {
            free(k->list);
            k->list = NULL;
            break;
        }
        in_order &= k->list[i] == i + 1;
        if (k->list[i] > k->most) k->most = (int32_t)k->list[i];
    }
    Py_DECREF(items);
    if (!k->list) return -1;
    if (in_order) {
        free(k->list);
        k->list = NULL;
    }
    return 0;
}

// *drops says whether the results have no axis for the neighbours.
static int take_k(PyObject* value, wanted* k, bool* drops) {
    *k = (wanted){0, 0, NULL};
    *drops = false;
    if (value == Py_None) return refuse_k();
    if (value && !PyFloat_Check(value) && !PyIndex_Check(value)) return take_list(value, k);
    int64_t number = 1;
    if (value && take_number(value, &number) < 0) {
        // An array of one axis may say that it is an index, and then not be one.
        if (!PySequence_Check(value)) return -1;
        PyErr_Clear();
        return take_list(value, k);
    }
    k->most = (int32_t)number;
    k->columns = k->most;
    *drops = number == 1;
    return 0;
}

// What is searched for, and what of the library's answers counts.
typedef struct question {
    sap_search search;
    double limit;    // neighbours are nearer than this, by distance2
    bool nothing;    // no distance is below the upper bound
    int64_t missing; // the index of neighbours that are missing
} question;

static void set_bound(question* q, double bound) {
    q->limit = (double)INFINITY;
    if (bound == (double)INFINITY) return;
    if (!(bound > 0)) {
        q->nothing = true;
        return;
    }
    q->search.radius = bound;
    const int power = q->search.metric == SAP_METRIC_LP ? (int)q->search.p : q->search.metric == SAP_METRIC_L2 ? 2 : 1;
    const double fraction = q->search.metric == SAP_METRIC_LP ? q->search.p - power : 0;
    q->limit = sap_raised(bound, power, (uint64_t)ldexp(fraction, 64));
}

// ---- Results: distances from what the library calls distance2, and indices of 8 bytes from ids of 4

typedef struct results {
    const question* q;
    int real_bits;
    double* distances; // [count]; distance2 lies there: doubles in their places, floats in the upper half
    int64_t* indices;  // [count]; ids lie in the upper half
    int64_t count;
} results;

static void root_all(const sap_search* search, double* distances, int64_t count) {
    if (search->metric == SAP_METRIC_L2)
        for (int64_t i = 0; i < count; i++) distances[i] = sqrt(distances[i]);
    else if (search->metric == SAP_METRIC_LP)
        for (int64_t i = 0; i < count; i++) distances[i] = pow(distances[i], 1 / search->p);
}

// In ascending order, so that nothing is written over ids that are still to be read.
static void convert(const results* r, int64_t from, int64_t to) {
    const char* ids = (const char*)r->indices + 4 * r->count;
    const char* narrow = (const char*)r->distances + 4 * r->count;
    const double limit = r->q->limit;
    const int64_t missing = r->q->missing;
    for (int64_t i = from; i < to; i++) {
        int32_t id;
        memcpy(&id, ids + 4 * i, 4);
        double distance2 = r->distances[i];
        if (r->real_bits == 32) {
            float value;
            memcpy(&value, narrow + 4 * i, 4);
            distance2 = (double)value;
        }
        const bool found = id >= 0 && distance2 < limit;
        r->distances[i] = found ? distance2 : (double)INFINITY;
        r->indices[i] = found ? id : missing;
    }
    root_all(&r->q->search, r->distances + from, to - from);
}

typedef struct span {
    const results* r;
    int64_t first;
} span;

static void convert_span(void* context, int64_t from, int64_t to, int32_t worker) {
    const span* s = context;
    (void)worker;
    convert(s->r, s->first + from, s->first + to);
}

// Half of what is left at a time: of it, what is written is not read any more.
static void convert_all(const results* r, int32_t threads) {
    enum { GRAIN = 1 << 14 };
    int64_t done = 0;
    while (threads > 1 && r->count - done > 4 * GRAIN) {
        span s = {r, done};
        const int64_t half = (r->count - done) / 2;
        sap_team_loop(threads, half, GRAIN, convert_span, &s);
        done += half;
    }
    convert(r, done, r->count);
}

// ---- Searching

static sap_status search_tree(const sap_tree* tree, const py_kdtree_points* points, int64_t from, int64_t to,
                              const sap_search* search, int32_t* ids, void* distance2) {
    const int32_t m = tree->shape.dims;
    if (tree->shape.real_bits == 64)
        return sap_nearest_f64(tree, (sap_points_f64){(const double*)points->coords + from * m, to - from, m, m},
                               search, ids, distance2);
    return sap_nearest(tree, (sap_points){(const float*)points->coords + from * m, to - from, m, m}, search, ids,
                       distance2);
}

static void answer_nothing(const results* r) {
    for (int64_t i = 0; i < r->count; i++) {
        r->distances[i] = (double)INFINITY;
        r->indices[i] = r->q->missing;
    }
}

// All of 1 … k: into the results' own memory.
static sap_status answer_all(const sap_tree* tree, const py_kdtree_points* points, const results* r) {
    if (r->q->nothing || !r->count) {
        answer_nothing(r);
        return SAP_OK;
    }
    int32_t* ids = (int32_t*)(void*)((char*)r->indices + 4 * r->count);
    void* distance2 = r->real_bits == 64 ? (void*)r->distances : (void*)((char*)r->distances + 4 * r->count);
    const sap_status status = search_tree(tree, points, 0, points->count, &r->q->search, ids, distance2);
    if (status == SAP_OK) convert_all(r, tree->device->options.threads);
    return status;
}

static void pick(const wanted* k, const results* all, int64_t rows, int64_t width, const results* to) {
    for (int64_t row = 0; row < rows; row++)
        for (Py_ssize_t column = 0; column < k->columns; column++) {
            const bool there = k->list[column] <= width;
            const int64_t from = row * width + k->list[column] - 1, at = row * k->columns + column;
            to->distances[at] = there ? all->distances[from] : (double)INFINITY;
            to->indices[at] = there ? all->indices[from] : all->q->missing;
        }
}

// Some columns: some queries at a time, so that little memory holds those that are not wanted.
static sap_status answer_picked(const sap_tree* tree, const py_kdtree_points* points, const wanted* k, question* q,
                                const results* r) {
    enum { AT_ONCE = 1 << 20 };
    const int64_t n = tree->shape.source_count, width = k->most < n ? k->most : n > 0 ? n : 1;
    int64_t step = AT_ONCE / width;
    if (step < 1) step = 1;
    if (step > points->count) step = points->count;
    if (!r->count) return SAP_OK;
    double* distances = malloc((size_t)(step * width) * sizeof *distances);
    int64_t* indices = malloc((size_t)(step * width) * sizeof *indices);
    sap_status status = distances && indices ? SAP_OK : SAP_ERROR_MEMORY;
    q->search.k = (int32_t)width;
    for (int64_t from = 0; status == SAP_OK && from < points->count; from += step) {
        const int64_t rows = points->count - from < step ? points->count - from : step, m = tree->shape.dims;
        py_kdtree_points some = {.coords = (const char*)points->coords + from * m * (r->real_bits / 8), .count = rows};
        const results all = {q, r->real_bits, distances, indices, rows * width};
        const results to = {q, r->real_bits, r->distances + from * k->columns, r->indices + from * k->columns, 0};
        status = answer_all(tree, &some, &all);
        if (status == SAP_OK) pick(k, &all, rows, width, &to);
    }
    free(distances);
    free(indices);
    return status;
}

// ---- One point

enum { FEW_K = 64 };

// Whether a prepared search can answer, so soon that the GIL is better kept: in few dimensions, or among few points.
static bool is_quick(const py_kdtree* kd, const wanted* k, const sap_search* search) {
    if (search->metric != SAP_METRIC_L2 || search->eps > 0 || k->most > FEW_K || k->list) return false;
    return kd->tree.dims <= 4 || py_kdtree_n(kd) <= 20000;
}

static PyObject* index_of(const py_kdtree* kd, int64_t index) {
    PyObject* plain = PyLong_FromLongLong(index);
    if (kd->plain_ids || !plain) return plain;
    PyObject* result = PyObject_CallFunctionObjArgs(kd->types.intp, plain, NULL);
    Py_DECREF(plain);
    return result;
}

static PyObject* pair_of(PyObject* first, PyObject* second) {
    PyObject* pair = first && second ? PyTuple_Pack(2, first, second) : NULL;
    Py_XDECREF(first);
    Py_XDECREF(second);
    return pair;
}

static int ask(sap_query* query, const py_kdtree* kd, const py_kdtree_points* point, int32_t* ids, double* distance2) {
    if (kd->tree.real_bits == 64) return sap_query_nearest_f64(query, point->coords, ids, distance2);
    float narrow[FEW_K];
    const int found = sap_query_nearest(query, point->coords, ids, narrow);
    for (int i = 0; i < found; i++) distance2[i] = (double)narrow[i];
    return found;
}

static PyObject* answer_one(py_kdtree* kd, const py_kdtree_points* point, const wanted* k, const question* q,
                            bool drops) {
    int32_t ids[FEW_K];
    double distance2[FEW_K];
    int found = 0;
    if (!q->nothing) {
        sap_query* query = py_tree_query(&kd->tree, &q->search);
        if (!query) return NULL;
        found = ask(query, kd, point, ids, distance2);
        if (found < 0) return py_raise(kd->tree.state, SAP_ERROR_MEMORY);
    }
    while (found > 0 && !(distance2[found - 1] < q->limit)) found--;
    if (drops)
        return pair_of(PyFloat_FromDouble(found ? py_kdtree_root(&q->search, distance2[0]) : (double)INFINITY),
                       index_of(kd, found ? ids[0] : q->missing));
    Py_buffer distances, indices;
    PyObject* first = py_kdtree_array(kd, kd->types.dtype_float64, 1, &k->columns, &distances);
    if (!first) return NULL;
    for (int i = 0; i < k->most; i++)
        ((double*)distances.buf)[i] = i < found ? py_kdtree_root(&q->search, distance2[i]) : (double)INFINITY;
    PyBuffer_Release(&distances);
    PyObject* second = py_kdtree_array(kd, kd->types.dtype_intp, 1, &k->columns, &indices);
    if (second) {
        for (int i = 0; i < k->most; i++) ((int64_t*)indices.buf)[i] = i < found ? ids[i] : q->missing;
        PyBuffer_Release(&indices);
    }
    return pair_of(first, second);
}

// ---- Many points

static sap_status answer_batch(const py_kdtree* kd, py_device* device, const py_kdtree_points* points, const wanted* k,
                               question* q, const results* r) {
    sap_tree view;
    const sap_tree* tree = py_kdtree_view(kd, device, &view);
    return k->list ? answer_picked(tree, points, k, q, r) : answer_all(tree, points, r);
}

// Fills the results. -1 and an exception.
static int answer_many(py_kdtree* kd, int32_t threads, const py_kdtree_points* points, const wanted* k, question* q,
                       const results* r) {
    py_device* device = py_kdtree_device(kd, threads);
    if (!device) return -1;
    py_call call;
    int result = py_call_begin(&call, device, NULL, NULL);
    if (result == 0) {
        const bool finite = py_kdtree_all_finite(points->coords, r->real_bits, points->count * kd->tree.dims, threads);
        result = py_call_end(&call, finite ? answer_batch(kd, device, points, k, q, r) : SAP_OK);
        if (result == 0 && !finite) {
            py_kdtree_not_finite("'x'");
            result = -1;
        }
    }
    Py_DECREF((PyObject*)device);
    return result;
}

static PyObject* answer(py_kdtree* kd, int32_t threads, const py_kdtree_points* points, const wanted* k, question* q,
                        bool drops) {
    Py_ssize_t shape[65];
    int ndim = points->ndim - 1;
    for (int axis = 0; axis < ndim; axis++) shape[axis] = points->shape[axis];
    if (!drops) shape[ndim++] = k->columns;
    Py_buffer distances, indices;
    PyObject* first = py_kdtree_array(kd, kd->types.dtype_float64, ndim, shape, &distances);
    if (!first) return NULL;
    PyObject* second = py_kdtree_array(kd, kd->types.dtype_intp, ndim, shape, &indices);
    if (!second) {
        PyBuffer_Release(&distances);
        Py_DECREF(first);
        return NULL;
    }
    const results r = {q, kd->tree.real_bits, distances.buf, indices.buf, points->count * k->columns};
    const int result = answer_many(kd, threads, points, k, q, &r);
    const double distance = result == 0 && ndim == 0 ? r.distances[0] : 0;
    const int64_t index = result == 0 && ndim == 0 ? r.indices[0] : 0;
    PyBuffer_Release(&distances);
    PyBuffer_Release(&indices);
    if (result == 0 && ndim > 0) return pair_of(first, second);
    Py_DECREF(first);
    Py_DECREF(second);
    return result < 0 ? NULL : pair_of(PyFloat_FromDouble(distance), index_of(kd, index));
}

static PyObject* answer_points(py_kdtree* kd, int32_t threads, PyObject* x, const wanted* k, question* q, bool drops) {
    py_kdtree_points points;
    if (py_kdtree_points_take(kd, x, &points) < 0) return NULL;
    PyObject* result = NULL;
    if (points.ndim > 1 || !is_quick(kd, k, &q->search))
        result = answer(kd, threads, &points, k, q, drops);
    else if (!py_kdtree_all_finite(points.coords, kd->tree.real_bits, kd->tree.dims, 1))
        py_kdtree_not_finite("'x'");
    else
        result = answer_one(kd, &points, k, q, drops);
    py_kdtree_points_release(&points);
    return result;
}

PyObject* py_kdtree_query(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    static const char* const words[] = {"x", "k", "eps", "p", "distance_upper_bound", "workers", NULL};
    PyObject* values[6];
    question q = {.nothing = false};
    double bound = (double)INFINITY;
    int32_t threads;
    if (py_arguments("query", words, 1, 6, args, count, names, values) < 0) return NULL;
    if (py_kdtree_norm(values[3], &q.search) < 0 || py_kdtree_eps(values[2], &q.search.eps) < 0 ||
        py_double(values[4], "distance_upper_bound", &bound) < 0 || py_kdtree_workers(values[5], &threads) < 0)
        return NULL;
    wanted k;
    bool drops;
    if (take_k(values[1], &k, &drops) < 0) return NULL;
    py_kdtree* kd = py_kdtree_use(self);
    PyObject* result = NULL;
    if (kd) {
        q.search.k = k.most;
        q.missing = py_kdtree_n(kd);
        set_bound(&q, bound);
        result = answer_points(kd, threads, values[0], &k, &q, drops);
        py_kdtree_done(kd);
    }
    free(k.list);
    return result;
}
