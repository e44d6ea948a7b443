// Searches of a tree for queries: the nearest points, those within a radius, those in boxes.
#include "results.h"
#include "told.h"
#include "tree.h"

static const char* type_of(const py_tree* tree) { return tree->real_bits == 32 ? "f4" : "f8"; }

static int64_t rows_of(const py_array* queries) { return queries->ndim == 1 ? 1 : queries->shape[0]; }

// ---- The nearest

PyDoc_STRVAR(
    nearest_doc,
    "nearest($self, /, queries, k=1, *, radius=None, metric='l2', p=None, weights=None, keep=None, eps=0.0,\n"
    "        exclude=None, ks=None, ordered=False, ids=True, distances=True, out=None, progress=None)\n--\n\n"
    "The k nearest points of each query, as Neighbors(ids, distances2): for n queries two arrays of n rows and k\n"
    "columns, int32 and of the tree's dtype; for a single query of one dimension, of k elements. Each row ascends by\n"
    "(distance, id). Missing neighbours have the id -1 and an infinite distance; a query with a NaN has none.\n\n"
    "Queries are converted to the tree's dtype where they differ.\n\n"
    "radius: only points this near (a distance, not squared), or an array with a radius for each query, in which one\n"
    "    that is negative or NaN finds nothing. A number that is so raises ArgumentError.\n"
    "metric: 'l2' (distances2 are squared), 'l1' and 'linf' (distances2 are the distances), or 'lp' with\n"
    "    p from 1 to 1000 (distances2 are the distances to the power p).\n"
    "weights: a factor for each axis.\n"
    "keep: an array of bool for the points; only those that are True may be found.\n"
    "eps: neighbours may be up to 1 + eps times as far as the true ones, which saves time.\n"
    "exclude: for each query the id of a point that does not count, or -1.\n"
    "ks: for each query how many neighbours it wants, at most k.\n"
    "ordered: consecutive queries lie near one another already.\n"
    "ids, distances: False leaves that array out.\n"
    "out: (ids, distances2), arrays that the results are written to; either may be None.\n\n"
    ">>> import sapwood\n"
    ">>> tree = sapwood.Tree([[0.0], [1.0], [5.0]])\n"
    ">>> tree.nearest([[0.9], [4.0]], k=2)\n"
    "Neighbors(ids=array([[1, 0],\n"
    "       [2, 1]], dtype=int32), distances2=array([[0.01, 0.81],\n"
    "       [1.  , 9.  ]]))\n"
    ">>> tree.nearest([0.9], k=2, radius=0.5).ids\n"
    "array([ 1, -1], dtype=int32)\n");

// Arrays for neighbours, as `out` or `ids` and `distances` ask for them. ndim 1 or 2.
static int neighbor_arrays(py_tree* self, const py_array* like, PyObject* out, bool with_ids, bool with_distances,
                           int ndim, int64_t rows, int32_t k, py_result* ids, py_result* distances2) {
    const int bytes = self->real_bits / 8;
    const int64_t both[] = {rows, k}, *shape = both + (ndim == 1);
    if (out && out != Py_None) {
        PyObject* first = py_out_element(out, 2, 0);
        PyObject* second = first ? py_out_element(out, 2, 1) : NULL;
        if (!second) return -1;
        if (first != Py_None &&
            py_result_take(self->state, first, "out[0]", 'i', 4, ndim, shape, self->device, ids) < 0)
            return -1;
        return second == Py_None
                   ? 0
                   : py_result_take(self->state, second, "out[1]", 'f', bytes, ndim, shape, self->device, distances2);
    }
    return py_results_of_neighbors(self->state, like, ndim, rows, k, self->real_bits, with_ids ? ids : NULL,
                                   with_distances ? distances2 : NULL);
}

static PyObject* neighbors_of(const py_state* state, const py_result* ids, const py_result* distances2) {
    return PyObject_CallFunctionObjArgs(state->neighbors_type, ids->object ? ids->object : Py_None,
                                        distances2->object ? distances2->object : Py_None, NULL);
}

static PyObject* tree_nearest(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    enum {
        QUERIES,
        K,
        RADIUS,
        METRIC,
        P,
        WEIGHTS,
        KEEP,
        EPS,
        EXCLUDE,
        KS,
        ORDERED,
        IDS,
        DISTANCES,
        OUT,
        PROGRESS,
        ALL
    };
    static const char* const names[] = {"queries", "k",  "radius",  "metric", "p",         "weights", "keep",     "eps",
                                        "exclude", "ks", "ordered", "ids",    "distances", "out",     "progress", NULL};
    PyObject* given[ALL];
    bool with_ids = true, with_distances = true;
    if (py_arguments("nearest", names, 1, 2, args, count, keywords, given) < 0 ||
        py_bool(given[IDS], "ids", &with_ids) < 0 || py_bool(given[DISTANCES], "distances", &with_distances) < 0)
        return NULL;
    py_tree* self = py_tree_use(object);
    if (!self) return NULL;
    const py_telling telling = {.k = given[K],
                                .radius = given[RADIUS],
                                .metric = given[METRIC],
                                .p = given[P],
                                .weights = given[WEIGHTS],
                                .keep = given[KEEP],
                                .eps = given[EPS],
                                .exclude = given[EXCLUDE],
                                .ks = given[KS],
                                .ordered = given[ORDERED]};
    py_array queries;
    py_told told = {0};
    py_result ids = {0}, distances2 = {0};
    PyObject* found = NULL;
    int result = py_array_take(self->state, given[QUERIES], "queries", type_of(self), 1, 2, 0, self->device, &queries);
    if (result == 0) {
        const int64_t rows = rows_of(&queries);
        result = py_told_read(self->state, self->device, &telling, self->dims, rows, self->source_count, false, &told);
        if (result == 0)
            result = neighbor_arrays(self, &queries, given[OUT], with_ids, with_distances, queries.ndim, rows,
                                     told.search.k, &ids, &distances2);
    }
    py_call call;
    if (result == 0) result = py_call_begin(&call, self->device, &queries, given[PROGRESS]);
    if (result == 0) {
        call.wait |= py_result_must_wait(&ids) || py_result_must_wait(&distances2);
        const sap_status status =
            self->real_bits == 32
                ? sap_nearest(self->tree, py_points(&queries), &told.search, ids.data, distances2.data)
                : sap_nearest_f64(self->tree, py_points_f64(&queries), &told.search, ids.data, distances2.data);
        if (status == SAP_OK) py_call_prepare(&call);
        result = py_call_end(&call, status);
    }
    if (result == 0) found = neighbors_of(self->state, &ids, &distances2);
    py_result_release(&ids);
    py_result_release(&distances2);
    py_told_release(&told);
    py_array_release(&queries);
    py_tree_done(self);
    return found;
}

// ---- Within a radius

PyDoc_STRVAR(
    within_doc,
    "within($self, /, queries, radius, *, k=None, sorted=False, metric='l2', p=None, weights=None, keep=None, "
    "out=None,\n"
    "       progress=None)\n--\n\n"
    "All points within a radius of each query, as Rows(offsets, ids, distances2): row i is\n"
    "ids[offsets[i]:offsets[i + 1]], with distances2 beside it, in the tree's own order.\n\n"
    "radius: a number, or an array of one for each query; points at that distance belong to it. In an array, a radius\n"
    "    that is negative or NaN finds nothing; a number that is so raises ArgumentError.\n"
    "k: at most the k nearest of them, ascending. sorted: each row ascends by (distance, id).\n"
    "metric, p, weights, keep: as in nearest().\n"
    "out: (offsets, ids, distances2), arrays that are written to; ids and distances2 have as many elements as one\n"
    "    another, rows are cut off where they end, and offsets[-1] says how many there would be. distances2 may be\n"
    "    None. Not together with other keywords.\n\n"
    ">>> import sapwood\n"
    ">>> tree = sapwood.Tree([[0.0], [1.0], [5.0]])\n"
    ">>> rows = tree.within([[0.5], [9.0], [4.0]], 1.0)\n"
    ">>> rows.offsets\n"
    "array([0, 2, 2, 3])\n"
    ">>> rows.row(2)\n"
    "array([2], dtype=int32)\n");

// sap_radius_into, with the arrays of out.
static PyObject* within_into(py_tree* self, const py_array* queries, double radius, PyObject* out, PyObject* progress) {
    const int64_t rows = rows_of(queries) + 1;
    py_result offsets = {0}, ids = {0}, distances2 = {0};
    PyObject *first = py_out_element(out, 3, 0), *second = NULL, *third = NULL, *found = NULL;
    if (first) second = py_out_element(out, 3, 1);
    if (second) third = py_out_element(out, 3, 2);
    int result = third ? py_result_take(self->state, first, "out[0]", 'i', 8, 1, &rows, self->device, &offsets) : -1;
    py_array any = {0};
    if (result == 0)
        result = py_array_take(self->state, second, "out[1]", "i4", 1, 1, PY_WRITABLE | PY_EXACT, self->device, &any);
    const int64_t capacity = any.shape[0];
    py_array_release(&any);
    if (result == 0) result = py_result_take(self->state, second, "out[1]", 'i', 4, 1, &capacity, self->device, &ids);
    if (result == 0 && third != Py_None)
        result = py_result_take(self->state, third, "out[2]", 'f', self->real_bits / 8, 1, &capacity, self->device,
                                &distances2);
    py_call call;
    if (result == 0) result = py_call_begin(&call, self->device, queries, progress);
    if (result == 0) {
        call.wait |= py_result_must_wait(&offsets) || py_result_must_wait(&ids) || py_result_must_wait(&distances2);
        const sap_status status = self->real_bits == 32
                                      ? sap_radius_into(self->tree, py_points(queries), radius, capacity, offsets.data,
                                                        ids.data, distances2.data)
                                      : sap_radius_into_f64(self->tree, py_points_f64(queries), radius, capacity,
                                                            offsets.data, ids.data, distances2.data);
        result = py_call_end(&call, status);
    }
    if (result == 0)
        found = PyObject_CallFunctionObjArgs(self->state->rows_type, offsets.object, ids.object,
                                             distances2.object ? distances2.object : Py_None, NULL);
    py_result_release(&offsets);
    py_result_release(&ids);
    py_result_release(&distances2);
    return found;
}

// Whether a search within a radius is told nothing but its radius.
static bool told_nothing_else(const sap_search* s) {
    return !s->k && !s->sorted && !s->metric && !s->weights && !s->keep && !s->radii;
}

static PyObject* found_within(py_tree* self, const py_array* queries, const sap_search* search, PyObject* out,
                              PyObject* progress) {
    if (out && out != Py_None) {
        if (told_nothing_else(search)) return within_into(self, queries, search->radius, out, progress);
        PyErr_SetString(PyExc_TypeError, "within() takes out with one radius for all, and no other keywords");
        return NULL;
    }
    sap_neighbors* found = NULL;
    py_call call;
    if (py_call_begin(&call, self->device, queries, progress) < 0) return NULL;
    const sap_status status = self->real_bits == 32
                                  ? sap_radius_search(self->tree, py_points(queries), search, &found)
                                  : sap_radius_search_f64(self->tree, py_points_f64(queries), search, &found);
    if (py_call_end(&call, status) == 0) return py_rows(self->state, queries, found, self->device);
    sap_neighbors_free(found);
    return NULL;
}

static PyObject* counted_within(py_tree* self, const py_array* queries, const sap_search* search, PyObject* progress) {
    const int64_t rows = rows_of(queries);
    py_result counts;
    if (py_result_new(self->state, queries, 'i', 8, 1, &rows, &counts) < 0) return NULL;
    py_call call;
    int result = py_call_begin(&call, self->device, queries, progress);
    if (result == 0) {
        const sap_status status =
            self->real_bits == 32
                ? sap_radius_search_count(self->tree, py_points(queries), search, counts.data)
                : sap_radius_search_count_f64(self->tree, py_points_f64(queries), search, counts.data);
        result = py_call_end(&call, status);
    }
    if (result < 0) py_result_release(&counts);
    return counts.object;
}

enum { QUERIES, RADIUS, K, SORTED, METRIC, P, WEIGHTS, KEEP, OUT, PROGRESS, WITHIN_ALL };

static PyObject* within(PyObject* object, PyObject* const* given, bool count_only) {
    py_tree* self = py_tree_use(object);
    if (!self) return NULL;
    const py_telling telling = {.k = given[K],
                                .radius = given[RADIUS],
                                .sorted = given[SORTED],
                                .metric = given[METRIC],
                                .p = given[P],
                                .weights = given[WEIGHTS],
                                .keep = given[KEEP]};
    py_array queries;
    py_told told = {0};
    PyObject* found = NULL;
    if (given[RADIUS] == Py_None) {
        PyErr_SetString(PyExc_TypeError, "radius must be a number, or an array of one for each query, not None");
    } else if (py_array_take(self->state, given[QUERIES], "queries", type_of(self), 1, 2, 0, self->device, &queries) ==
               0) {
        const int64_t rows = rows_of(&queries);
        if (py_told_read(self->state, self->device, &telling, self->dims, rows, self->source_count, true, &told) == 0)
            found = count_only ? counted_within(self, &queries, &told.search, given[PROGRESS])
                               : found_within(self, &queries, &told.search, given[OUT], given[PROGRESS]);
        py_told_release(&told);
        py_array_release(&queries);
    }
    py_tree_done(self);
    return found;
}

static PyObject* tree_within(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    static const char* const names[] = {"queries", "radius", "k",   "sorted",   "metric", "p",
                                        "weights", "keep",   "out", "progress", NULL};
    PyObject* given[WITHIN_ALL];
    if (py_arguments("within", names, 2, 2, args, count, keywords, given) < 0) return NULL;
    return within(object, given, false);
}

PyDoc_STRVAR(count_within_doc, "count_within($self, /, queries, radius, *, k=None, metric='l2', p=None, weights=None, "
                               "keep=None, progress=None)\n--\n\n"
                               "How many points within() would find for each query, as int64.\n\n"
                               ">>> import sapwood\n"
                               ">>> sapwood.Tree([[0.0], [1.0], [5.0]]).count_within([[0.5], [9.0]], 1.0)\n"
                               "array([2, 0])\n");

static PyObject* tree_count_within(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    static const char* const names[] = {"queries", "radius", "k", "metric", "p", "weights", "keep", "progress", NULL};
    PyObject* g[8];
    if (py_arguments("count_within", names, 2, 2, args, count, keywords, g) < 0) return NULL;
    PyObject* given[WITHIN_ALL] = {[QUERIES] = g[0], [RADIUS] = g[1],  [K] = g[2],    [METRIC] = g[3],
                                   [P] = g[4],       [WEIGHTS] = g[5], [KEEP] = g[6], [PROGRESS] = g[7]};
    return within(object, given, true);
}

// ---- In boxes

PyDoc_STRVAR(box_doc,
             "box($self, /, lower, upper, *, progress=None)\n--\n\n"
             "The points in each box, its sides included, as Rows(offsets, ids, None). Box i has its corners in row i\n"
             "of lower and upper; sides may be infinite.\n\n"
             ">>> import sapwood\n"
             ">>> sapwood.Tree([[0.0], [1.0], [5.0]]).box([[1.0]], [[9.0]]).ids\n"
             "array([1, 2], dtype=int32)\n");

PyDoc_STRVAR(box_count_doc, "box_count($self, /, lower, upper, *, progress=None)\n--\n\n"
                            "How many points lie in each box of box(), as int64.\n\n"
                            ">>> import sapwood\n"
                            ">>> sapwood.Tree([[0.0], [1.0], [5.0]]).box_count([[1.0]], [[9.0]])\n"
                            "array([2])\n");

static PyObject* in_boxes(py_tree* self, const py_array* lower, const py_array* upper, PyObject* progress) {
    sap_neighbors* found = NULL;
    py_call call;
    if (py_call_begin(&call, self->device, lower, progress) < 0) return NULL;
    const sap_status status = self->real_bits == 32
                                  ? sap_box_search(self->tree, py_points(lower), py_points(upper), &found)
                                  : sap_box_search_f64(self->tree, py_points_f64(lower), py_points_f64(upper), &found);
    if (py_call_end(&call, status) == 0) return py_rows(self->state, lower, found, self->device);
    sap_neighbors_free(found);
    return NULL;
}

static PyObject* counted_in_boxes(py_tree* self, const py_array* lower, const py_array* upper, PyObject* progress) {
    const int64_t rows = rows_of(lower);
    py_result counts;
    if (py_result_new(self->state, lower, 'i', 8, 1, &rows, &counts) < 0) return NULL;
    py_call call;
    int result = py_call_begin(&call, self->device, lower, progress);
    if (result == 0) {
        const sap_status status =
            self->real_bits == 32
                ? sap_box_count(self->tree, py_points(lower), py_points(upper), counts.data)
                : sap_box_count_f64(self->tree, py_points_f64(lower), py_points_f64(upper), counts.data);
        result = py_call_end(&call, status);
    }
    if (result < 0) py_result_release(&counts);
    return counts.object;
}

static PyObject* boxes(PyObject* object, const char* function, PyObject* const* args, Py_ssize_t count,
                       PyObject* keywords, bool count_only) {
    static const char* const names[] = {"lower", "upper", "progress", NULL};
    PyObject* given[3];
    if (py_arguments(function, names, 2, 2, args, count, keywords, given) < 0) return NULL;
    py_tree* self = py_tree_use(object);
    if (!self) return NULL;
    py_array lower, upper;
    PyObject* found = NULL;
    if (py_array_take(self->state, given[0], "lower", type_of(self), 1, 2, 0, self->device, &lower) == 0) {
        if (py_array_take(self->state, given[1], "upper", type_of(self), 1, 2, 0, self->device, &upper) == 0) {
            if (upper.on_gpu == lower.on_gpu)
                found = count_only ? counted_in_boxes(self, &lower, &upper, given[2])
                                   : in_boxes(self, &lower, &upper, given[2]);
            else
                PyErr_SetString(py_argument_error, "lower and upper must lie on the same device");
            py_array_release(&upper);
        }
        py_array_release(&lower);
    }
    py_tree_done(self);
    return found;
}

static PyObject* tree_box(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    return boxes(object, "box", args, count, keywords, false);
}

static PyObject* tree_box_count(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    return boxes(object, "box_count", args, count, keywords, true);
}

PyMethodDef py_tree_search_methods[] = {
    PY_METHOD("nearest", tree_nearest, nearest_doc),
    PY_METHOD("within", tree_within, within_doc),
    PY_METHOD("count_within", tree_count_within, count_within_doc),
    PY_METHOD("box", tree_box, box_doc),
    PY_METHOD("box_count", tree_box_count, box_count_doc),
    {NULL, NULL, 0, NULL},
};
