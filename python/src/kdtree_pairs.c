// query_pairs and sparse_distance_matrix: pairs of points within a radius.
#include "kdtree.h"

#include <math.h>
#include <stdlib.h>

// ---- Two trees

static bool are_alike(const py_kdtree* kd, const py_kdtree* other, const char* function) {
    const char* wrong = NULL;
    if (other->tree.dims != kd->tree.dims)
        wrong = "different dimensionality";
    else if (other->tree.real_bits != kd->tree.real_bits)
        wrong = "different precision";
    for (int32_t axis = 0; !wrong && axis < kd->tree.dims; axis++)
        if (kd->tree.tree->options.period[axis] != other->tree.tree->options.period[axis]) wrong = "different boxes";
    if (wrong) PyErr_Format(py_argument_error, "Trees passed to %s have %s", function, wrong);
    return !wrong;
}

int py_kdtree_two_open(py_kdtree_two* two, PyObject* self, PyObject* other, const char* function) {
    two->kd = py_kdtree_use(self);
    if (!two->kd) return -1;
    two->other = two->kd;
    two->device = NULL;
    if (other && other != self) {
        if (!py_is_kdtree(two->kd->tree.state, other)) {
            PyErr_Format(PyExc_TypeError, "%s: other must be a cKDTree, not %R", function, Py_TYPE(other));
            two->other = NULL;
        } else
            two->other = py_kdtree_use(other);
        if (!two->other) {
            py_kdtree_done(two->kd);
            return -1;
        }
    }
    if (are_alike(two->kd, two->other, function)) two->device = py_kdtree_device(two->kd, PY_KDTREE_THREADS);
    if (!two->device) {
        py_kdtree_two_close(two);
        return -1;
    }
    two->a = py_kdtree_view(two->kd, two->device, &two->view_a);
    two->b = two->other == two->kd ? two->a : py_kdtree_view(two->other, two->device, &two->view_b);
    return 0;
}

void py_kdtree_two_close(py_kdtree_two* two) {
    Py_XDECREF((PyObject*)two->device);
    if (two->other != two->kd) py_kdtree_done(two->other);
    py_kdtree_done(two->kd);
}

sap_status py_kdtree_pairs(const py_kdtree_two* two, const sap_search* search, sap_neighbors** rows) {
    *rows = NULL;
    if (!(search->radius >= 0)) return SAP_OK;
    const int64_t n = py_kdtree_n(two->kd);
    if (two->kd->tree.real_bits == 64)
        return sap_radius_search_f64(two->b, py_kdtree_queries_f64(two->kd, 0, n), search, rows);
    return sap_radius_search(two->b, py_kdtree_queries_f32(two->kd, 0, n), search, rows);
}

// ---- query_pairs

// Keeps of each row the ids that are greater than its number. Rows are closed up in place; the distances are not.
static void keep_greater(sap_neighbors* rows) {
    int64_t* offsets = (int64_t*)(uintptr_t)rows->offsets;
    int32_t* ids = (int32_t*)(uintptr_t)rows->ids;
    int64_t kept = 0, from = 0;
    for (int64_t row = 0; row < rows->count; row++) {
        const int64_t to = offsets[row + 1];
        for (; from < to; from++)
            if (ids[from] > row) ids[kept++] = ids[from];
        offsets[row + 1] = kept;
    }
}

// Each pair once, in the row of its smaller id.
static sap_status find_pairs(const py_kdtree_two* two, const sap_search* search, sap_neighbors** rows) {
    if (search->metric == SAP_METRIC_L2 && search->radius >= 0) return sap_pairs(two->a, search->radius, rows);
    const sap_status status = py_kdtree_pairs(two, search, rows);
    if (status == SAP_OK && *rows) keep_greater(*rows);
    return status;
}

static PyObject* pair_of_ints(py_kdtree_ints* ints, int64_t i, int64_t j) {
    PyObject *pair = PyTuple_New(2), *first = py_kdtree_int(ints, i), *second = py_kdtree_int(ints, j);
    if (!pair || !first || !second) {
        Py_XDECREF(pair);
        Py_XDECREF(first);
        Py_XDECREF(second);
        return NULL;
    }
    PyTuple_SetItem(pair, 0, first);
    PyTuple_SetItem(pair, 1, second);
    return pair;
}

// Adds all pairs to a set, or with distances as values to a dict.
static int add_pairs(PyObject* result, const py_kdtree_two* two, const sap_neighbors* rows, const sap_search* search) {
    const int64_t n = py_kdtree_n(two->kd), m = py_kdtree_n(two->other);
    py_kdtree_ints ints;
    py_kdtree_ints_open(&ints, n > m ? n : m, 2 * rows->offsets[rows->count]);
    const int enabled = PyGC_Disable();
    int added = 0;
    for (int64_t row = 0; added == 0 && row < rows->count; row++)
        for (int64_t at = rows->offsets[row]; added == 0 && at < rows->offsets[row + 1]; at++) {
            PyObject* pair = pair_of_ints(&ints, row, rows->ids[at]);
            added = pair ? 0 : -1;
            if (pair && !search)
                added = PySet_Add(result, pair);
            else if (pair) {
                const double distance2 = rows->distance2_f64 ? rows->distance2_f64[at] : (double)rows->distance2[at];
                PyObject* distance = PyFloat_FromDouble(py_kdtree_root(search, distance2));
                added = distance ? PyDict_SetItem(result, pair, distance) : -1;
                Py_XDECREF(distance);
            }
            Py_XDECREF(pair);
        }
    if (enabled) PyGC_Enable();
    py_kdtree_ints_close(&ints);
    return added;
}

typedef struct writing {
    const sap_neighbors* rows;
    const sap_search* search;
    int64_t* pairs; // (pairs, 2)
    struct entry {
        int64_t i, j;
        double v;
    } * entries;
    int32_t* first; // numbers of the rows
    double* distances;
} writing;

static void write_pairs(void* context, int64_t from, int64_t to, int32_t worker) {
    const writing* w = context;
    (void)worker;
    for (int64_t row = from; row < to; row++)
        for (int64_t at = w->rows->offsets[row]; at < w->rows->offsets[row + 1]; at++) {
            w->pairs[2 * at] = row;
            w->pairs[2 * at + 1] = w->rows->ids[at];
        }
}

static PyObject* array_of_pairs(const py_kdtree_two* two, const sap_neighbors* rows) {
    const Py_ssize_t shape[2] = {rows ? (Py_ssize_t)rows->offsets[rows->count] : 0, 2};
    Py_buffer view;
    PyObject* result = py_kdtree_array(two->kd, two->kd->types.dtype_intp, 2, shape, &view);
    if (!result) return NULL;
    writing w = {.rows = rows, .pairs = view.buf};
    py_call call;
    const int begun = rows ? py_call_begin(&call, two->device, NULL, NULL) : 0;
    if (rows && begun == 0) {
        sap_team_loop(PY_KDTREE_THREADS, rows->count, 4096, write_pairs, &w);
        py_call_end(&call, SAP_OK);
    }
    PyBuffer_Release(&view);
    if (begun == 0) return result;
    Py_DECREF(result);
    return NULL;
}

static PyObject* set_of_pairs(const py_kdtree_two* two, const sap_neighbors* rows) {
    PyObject* result = PySet_New(NULL);
    if (result && rows && add_pairs(result, two, rows, NULL) < 0) {
        Py_DECREF(result);
        return NULL;
    }
    return result;
}

PyObject* py_kdtree_query_pairs(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    static const char* const words[] = {"r", "p", "eps", "output_type", NULL};
    static const char* const types[] = {"set", "ndarray", NULL};
    PyObject* values[4];
    sap_search search = {.k = 0};
    double eps;
    int32_t type = 0;
    if (py_arguments("query_pairs", words, 1, 4, args, count, names, values) < 0 ||
        py_number(values[0], "r", &search.radius) < 0 || py_kdtree_norm(values[1], &search) < 0 ||
        py_kdtree_eps(values[2], &eps) < 0 || py_word(values[3], "output_type", types, &type) < 0)
        return NULL;
    // All that eps allows is found, so that pairs at the distance r are found, however their distance is rounded.
    if (eps > 0) search.radius *= 1 + eps;
    py_kdtree_two two;
    if (py_kdtree_two_open(&two, self, NULL, "query_pairs") < 0) return NULL;
    sap_neighbors* rows = NULL;
    PyObject* result = NULL;
    py_call call;
    if (py_call_begin(&call, two.device, NULL, NULL) == 0) {
        if (py_call_end(&call, find_pairs(&two, &search, &rows)) == 0)
            result = type == 0 ? set_of_pairs(&two, rows) : array_of_pairs(&two, rows);
        sap_neighbors_free(rows);
    }
    py_kdtree_two_close(&two);
    return result;
}

// ---- sparse_distance_matrix

static double distance_at(const writing* w, int64_t at) {
    const sap_neighbors* rows = w->rows;
    const double distance2 = rows->distance2_f64 ? rows->distance2_f64[at] : (double)rows->distance2[at];
    return py_kdtree_root(w->search, distance2);
}

static void write_entries(void* context, int64_t from, int64_t to, int32_t worker) {
    const writing* w = context;
    (void)worker;
    for (int64_t row = from; row < to; row++)
        for (int64_t at = w->rows->offsets[row]; at < w->rows->offsets[row + 1]; at++)
            w->entries[at] = (struct entry){row, w->rows->ids[at], distance_at(w, at)};
}

static void write_columns(void* context, int64_t from, int64_t to, int32_t worker) {
    const writing* w = context;
    const int64_t first = w->rows->offsets[from], end = w->rows->offsets[to];
    (void)worker;
    for (int64_t row = from; row < to; row++)
        for (int64_t at = w->rows->offsets[row]; at < w->rows->offsets[row + 1]; at++) w->first[at] = (int32_t)row;
    if (w->search->metric == SAP_METRIC_L2 && w->rows->distance2_f64)
        for (int64_t at = first; at < end; at++) w->distances[at] = sqrt(w->rows->distance2_f64[at]);
    else
        for (int64_t at = first; at < end; at++) w->distances[at] = distance_at(w, at);
}

static int write_all(const py_kdtree_two* two, writing* w) {
    if (!w->rows) return 0;
    py_call call;
    if (py_call_begin(&call, two->device, NULL, NULL) < 0) return -1;
    sap_team_loop(PY_KDTREE_THREADS, w->rows->count, 4096, w->entries ? write_entries : write_columns, w);
    return py_call_end(&call, SAP_OK);
}

// An array of the type that is given: i and j (intp) and v (float64).
static PyObject* entries_of(const py_kdtree_two* two, PyObject* dtype, Py_ssize_t pairs, writing* w) {
    Py_buffer view;
    PyObject* result = py_kdtree_array(two->kd, dtype, 1, &pairs, &view);
    if (!result) return NULL;
    int written = -1;
    if (view.len == pairs * (Py_ssize_t)sizeof *w->entries) {
        w->entries = view.buf;
        written = write_all(two, w);
    } else
        PyErr_SetString(py_argument_error, "dtype: must have the fields i, j and v of 8 bytes");
    PyBuffer_Release(&view);
    if (written == 0) return result;
    Py_DECREF(result);
    return NULL;
}

// sapwood.Rows, whose ids and distances are the memory of `rows`, and the number of the row beside each id. Distances
// in double precision take the place of their squares. Takes `rows`.
static PyObject* columns_of(const py_kdtree_two* two, sap_neighbors* rows, writing* w) {
    const Py_ssize_t pairs = (Py_ssize_t)rows->offsets[rows->count];
    const py_kdtree_types* types = &two->kd->types;
    Py_buffer first, distances = {.obj = NULL};
    PyObject *numbers = py_kdtree_array(two->kd, types->dtype_int32, 1, &pairs, &first), *reals = NULL;
    int written = -1;
    if (numbers) {
        w->first = first.buf;
        w->distances = (double*)(uintptr_t)rows->distance2_f64;
        if (!w->distances) reals = py_kdtree_array(two->kd, types->dtype_float64, 1, &pairs, &distances);
        if (reals) w->distances = distances.buf;
        if (w->distances) written = write_all(two, w);
        if (reals) PyBuffer_Release(&distances);
        PyBuffer_Release(&first);
    }
    PyObject* found = NULL;
    if (written == 0)
        found = py_rows(two->kd->tree.state, NULL, rows, two->device);
    else
        sap_neighbors_free(rows);
    PyObject* result = found ? PyTuple_Pack(3, numbers, found, reals ? reals : Py_None) : NULL;
    Py_XDECREF(found);
    Py_XDECREF(numbers);
    Py_XDECREF(reals);
    return result;
}

static PyObject* dict_of(const py_kdtree_two* two, const writing* w) {
    PyObject* result = PyDict_New();
    if (result && w->rows && add_pairs(result, two, w->rows, w->search) < 0) {
        Py_DECREF(result);
        return NULL;
    }
    return result;
}

static PyObject* distances_as(const py_kdtree_two* two, const sap_search* search, sap_neighbors* rows, PyObject* type) {
    writing w = {.rows = rows, .search = search};
    if (PyTuple_Check(type)) {
        if (rows) return columns_of(two, rows, &w);
        return Py_NewRef(Py_None);
    }
    PyObject* result = type == Py_None ? dict_of(two, &w)
                                       : entries_of(two, type, rows ? (Py_ssize_t)rows->offsets[rows->count] : 0, &w);
    sap_neighbors_free(rows);
    return result;
}

// _distances(other, max_distance, p, type). With type None a dict; with a tuple the numbers of the rows, sapwood.Rows
// with distances instead of their squares, and the distances if those are not there (single precision), or None if
// nothing can be found; else an array of the dtype.
PyObject* py_kdtree_distances(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
    static const char* const words[] = {"other", "max_distance", "p", "type", NULL};
    PyObject* values[4];
    sap_search search = {.k = 0};
    if (py_arguments("sparse_distance_matrix", words, 4, 4, args, count, names, values) < 0 ||
        py_number(values[1], "max_distance", &search.radius) < 0 || py_kdtree_norm(values[2], &search) < 0)
        return NULL;
    py_kdtree_two two;
    if (py_kdtree_two_open(&two, self, values[0], "sparse_distance_matrix") < 0) return NULL;
    sap_neighbors* rows = NULL;
    PyObject* result = NULL;
    py_call call;
    if (py_call_begin(&call, two.device, NULL, NULL) == 0 &&
        py_call_end(&call, py_kdtree_pairs(&two, &search, &rows)) == 0)
        result = distances_as(&two, &search, rows, values[3]);
    py_kdtree_two_close(&two);
    return result;
}
